package import BatchFoundation

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

  /// The path of the XMLAPI within a session of the older kind: `/XMLAPI;jsessionid=…`.
  package func xmlapi(in session: Login.Session) -> Secret { Secret(xmlapi + session.pathSuffix.reveal()) }
}
