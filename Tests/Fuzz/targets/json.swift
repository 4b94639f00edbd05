import BatchFoundation

extension FuzzTarget {
  /// Any bytes: both readers agree whether they are JSON; what was read and written again says the same.
  static func json(_ input: UnsafeBufferPointer<UInt8>) {
    let bytes = Array(input)
    let node = try? JSONNode.parse(bytes)
    if let node {
      let text = node.canonicalText
      guard let again = try? JSONNode.parse(Array(text.utf8)) else {
        preconditionFailure("what was written is not JSON")
      }
      precondition(again.canonicalText.utf8.elementsEqual(text.utf8))
    }
    // Whoever cuts a file into lines takes the byte order mark away.
    let line = Array(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...])
    line.withUnsafeBufferPointer { text in
      guard firstInvalidUTF8(text) == nil else { return }
      var reader = JSONReader()
      var tape = JSONTape()
      guard let flaws = try? reader.read(text, onto: &tape) else {
        precondition(node == nil)
        return
      }
      guard !flaws.hasAny else { return }
      walk(tape.view(at: 0))
      // Before long it is read by its shape.
      for _ in 0..<20 {
        var again = JSONTape()
        _ = try? reader.read(text, onto: &again)
        precondition(again.bytes.elementsEqual(tape.bytes))
      }
    }
  }
}

private func walk(_ view: JSONView) {
  for element in view.elements { walk(element) }
  for member in view.members {
    _ = member.key.description
    walk(member.value)
  }
  _ = view.string?.description
  _ = view.number?.description
}
