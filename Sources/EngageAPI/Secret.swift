/// A text that no way of printing shows. Comparing two of them is done by bytes.
package struct Secret: Sendable, Equatable {
  private let text: String

  package init(_ text: String) { self.text = text }

  /// The text itself, for the wire only.
  package func reveal() -> String { text }

  package var isEmpty: Bool { text.isEmpty }

  package static func == (one: Secret, other: Secret) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<redacted>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// What an administrator issues for one organisation (spec 1.1). None of it is ever printed.
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
