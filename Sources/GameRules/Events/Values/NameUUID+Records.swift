package import BatchFoundation

extension NameUUID {
  /// D of the reference.
  package static let deltaDNA = program.uuid("deltadna")

  /// Makes the key K of a record from its input kind and its line, without white space at both ends (reference deltadna
  /// 5).
  package init(line: Text, kind: InputKind) {
    self = Self.deltaDNA.uuid {
      unsafe $0.update(UnsafeRawBufferPointer(Self.start(of: kind).bytes))
      unsafe $0.update(UnsafeRawBufferPointer(line.bytes))
    }
  }

  /// Returns the text hashed before a line for its key K.
  static func start(of kind: InputKind) -> Text {
    switch kind {
    case .events: "events\t"
    case .notifications: "notifications\t"
    case .deepLinks: "deepLinks\t"
    }
  }
}
