/// Where the calls of a service are, below its address.
package struct ServicePaths: Sendable, Equatable {
  package var oauth: String
  package var xmlapi: String
  package var events: String
  package var eventErrors: String

  package init(oauth: String, xmlapi: String, events: String, eventErrors: String) {
    self.oauth = oauth
    self.xmlapi = xmlapi
    self.events = events
    self.eventErrors = eventErrors
  }
}
