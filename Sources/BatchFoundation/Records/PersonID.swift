/// An id by which a person is known, with its kind.
public struct PersonID: Hashable, Sendable {
  /// The kind of an id, as commands and listings name it.
  public struct Kind: Hashable, Sendable {
    public var name: String

    public init(_ name: String) { self.name = name }

    public static let device = Kind("device")
    public static let user = Kind("user")
  }

  public var kind: Kind
  /// The id, not empty.
  public var value: ByteText

  public init(_ kind: Kind, _ value: String) {
    self.kind = kind
    self.value = ByteText(value)
  }

  public var bytes: [UInt8] { Array(value.string.utf8) }
}
