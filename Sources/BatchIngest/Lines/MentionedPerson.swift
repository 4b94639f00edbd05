import BatchFoundation

/// The search for people in lines that are not records, whose bytes the quarantine would keep.
enum MentionedPerson {
  /// Checks the texts and numbers of JSON lines, and otherwise what quotes, white space, commas, `&` and `=` separate.
  static func isNamed(
    in bytes: UnsafeBufferPointer<UInt8>, _ kinds: [PersonID.Kind], _ isForgotten: (PersonID.Kind, Text) -> Bool
  ) -> Bool {
    func isAny(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
      guard let base = bytes.baseAddress else { return false }
      let text = unsafe Text(base: base, count: bytes.count)
      return kinds.contains { isForgotten($0, text) }
    }
    // A line that is not JSON is searched below.
    if let node = try? unsafe JSONNode.parse(Array(bytes), options: .duplicateKeys) { return unsafe names(node, isAny) }
    let ends: Set<UInt8> = [UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "&"), UInt8(ascii: "=")]
    var start = 0
    for index in 0...bytes.count {
      if index < bytes.count, unsafe bytes[index] > 0x20 && !ends.contains(bytes[index]) { continue }
      if index > start, unsafe isAny(UnsafeBufferPointer(rebasing: bytes[start..<index])) { return true }
      start = index + 1
    }
    return false
  }

  private static func names(_ node: JSONNode, _ isAny: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
    switch node.value {
    case .null, .bool, .data: return false
    case .string(let text), .number(let text), .date(let text), .written(let text):
      var text = text
      return text.withUTF8 { unsafe isAny($0) }
    case .array(let elements): return elements.contains { unsafe names($0, isAny) }
    case .object(let members): return members.contains { unsafe names($0.value, isAny) }
    }
  }
}
