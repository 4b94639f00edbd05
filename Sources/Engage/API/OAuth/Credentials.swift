package import BatchFoundation

/// What an administrator issues for one organisation (reference identity 1.1). None of it is ever printed.
package struct Credentials: Sendable, Equatable {
  package var clientID: Secret
  package var clientSecret: Secret
  package var refreshToken: Secret

  package init(clientID: Secret, clientSecret: Secret, refreshToken: Secret) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.refreshToken = refreshToken
  }
}
