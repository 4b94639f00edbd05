extension CanonicalJSON {
  /// Appends a value without white space, numbers as they were written.
  ///
  /// - Parameter ordered: members by the bytes of their names at every depth (reference decisions 46); otherwise as they stand, which is the
  ///   same for values that were put in order before.
  public static func append(_ value: JSONView, ordered: Bool = false, to target: inout ByteBuffer) {
    switch value.kind {
    case .null: target.append("null")
    case .no: target.append("false")
    case .yes: target.append("true")
    case .number: target.append(value.number ?? .empty)
    case .string: appendString(value.string ?? .empty, to: &target)
    case .array:
      target.append(UInt8(ascii: "["))
      var elements = value.elements
      var isFirst = true
      while let element = elements.next() {
        if !isFirst { target.append(UInt8(ascii: ",")) }
        isFirst = false
        append(element, ordered: ordered, to: &target)
      }
      target.append(UInt8(ascii: "]"))
    case .object:
      target.append(UInt8(ascii: "{"))
      var isFirst = true
      if ordered, !hasOrderedMembers(value) {
        for (key, member) in value.members.sorted(by: { $0.key < $1.key }) {
          append(key, member, ordered, &isFirst, to: &target)
        }
      } else {
        var members = value.members
        while let (key, member) = members.next() { append(key, member, ordered, &isFirst, to: &target) }
      }
      target.append(UInt8(ascii: "}"))
    }
  }

  @inline(__always)
  private static func append(
    _ key: Text, _ member: JSONView, _ ordered: Bool, _ isFirst: inout Bool, to target: inout ByteBuffer
  ) {
    if !isFirst { target.append(UInt8(ascii: ",")) }
    isFirst = false
    appendString(key, to: &target)
    target.append(UInt8(ascii: ":"))
    append(member, ordered: ordered, to: &target)
  }

  private static func hasOrderedMembers(_ object: JSONView) -> Bool {
    var last = Text.empty
    for (key, _) in object.members {
      if key < last { return false }
      last = key
    }
    return true
  }
}
