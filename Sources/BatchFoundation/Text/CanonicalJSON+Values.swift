extension CanonicalJSON {
  /// Appends a value without white space, members as they stand, numbers as they were written.
  public static func append(_ value: JSONView, to target: inout ByteBuffer) {
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
        append(element, to: &target)
      }
      target.append(UInt8(ascii: "]"))
    case .object:
      target.append(UInt8(ascii: "{"))
      var isFirst = true
      var members = value.members
      while let (key, member) = members.next() {
        if !isFirst { target.append(UInt8(ascii: ",")) }
        isFirst = false
        appendString(key, to: &target)
        target.append(UInt8(ascii: ":"))
        append(member, to: &target)
      }
      target.append(UInt8(ascii: "}"))
    }
  }
}
