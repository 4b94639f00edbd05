/// An id by which a person is known, and what it is the id of.
package struct PersonID: Hashable, Sendable {
  /// What an id is the id of, in one word as commands and listings name it.
  package struct Kind: Hashable, Sendable {
    package var name: String

    package init(_ name: String) { self.name = name }

    package static let device = Kind("device")
    package static let user = Kind("user")
  }

  package var kind: Kind
  /// Not empty.
  package var value: ByteText

  package init(_ kind: Kind, _ value: String) {
    self.kind = kind
    self.value = ByteText(value)
  }

  package var bytes: [UInt8] { Array(value.string.utf8) }
}
