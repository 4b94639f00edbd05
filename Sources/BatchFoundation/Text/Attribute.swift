/// A field of an event: its name and its value.
public struct Attribute {
  public var name: Text
  public var value: Text

  @inlinable
  public init(_ name: Text, _ value: Text) {
    self.name = name
    self.value = value
  }
}
