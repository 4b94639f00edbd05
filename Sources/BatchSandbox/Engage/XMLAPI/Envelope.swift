import BatchWire

/// What the body of an XMLAPI request holds (specification section 2.1).
enum Envelope: Sendable {
  case operations([XMLElement])
  case refused(APIFault)

  /// - Parameter contentType: a form carries the envelope in its field `xml`; anything else is the envelope.
  init(_ body: [UInt8], contentType: String) {
    var bytes = body
    if contentType.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      guard let form = parseForm(body) else {
        self = .refused(.invalidRequest)
        return
      }
      guard let xml = form.first(where: { $0.name.utf8.elementsEqual("xml".utf8) }) else {
        self = .refused(.missingXML)
        return
      }
      bytes = Array(xml.value.utf8)
    }
    if bytes.isEmpty {
      self = .refused(.serverError)
      return
    }
    // A declared charset other than UTF-8, or none for text beyond ASCII, is where clients went wrong.
    if bytes.contains(where: { $0 >= 0x80 }), !contentType.lowercased().contains("utf-8"), !Self.declaresUTF8(bytes) {
      self = .refused(.invalidRequest)
      return
    }
    // Whatever is wrong with it, the service says no more than 51.
    guard let root = try? XMLDocument.parse(bytes, limits: .file), root.isNamed("Envelope"),
      let body = root.first("Body"),
      !body.elements.isEmpty
    else {
      self = .refused(.invalidRequest)
      return
    }
    self = .operations(body.elements)
  }

  private static func declaresUTF8(_ bytes: [UInt8]) -> Bool {
    let start = String(decoding: bytes.prefix(100), as: UTF8.self).lowercased()
    return start.hasPrefix("<?xml") && start.contains("utf-8")
  }

  var names: [String] {
    switch self {
    case .operations(let operations): operations.map(\.name)
    case .refused: []
    }
  }
}
