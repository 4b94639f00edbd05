import BatchWire

extension FuzzTarget {
  /// Any bytes: a tree, or an `XMLError`; and what was read can be written and read again.
  static func xml(_ input: UnsafeBufferPointer<UInt8>) {
    do {
      let root = try XMLDocument.parse(Array(input))
      var writer = XMLWriter()
      try writer.element("a", attributes: [XMLAttribute(name: "k", value: root.text)]) { inner in
        try inner.element("b", cdata: root.text)
      }
      let again = try XMLDocument.parse(writer.bytes)
      precondition(again.first("b")?.text.utf8.elementsEqual(root.text.utf8) == true)
      precondition(again.attribute("k")?.utf8.elementsEqual(root.text.utf8) == true)
    } catch is XMLError {
    } catch {
      preconditionFailure("untyped error")
    }
  }
}
