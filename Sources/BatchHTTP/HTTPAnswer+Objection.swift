import BatchFoundation

extension HTTPAnswer {
  /// Whether the body is in a form that nobody asked for.
  package var isCompressed: Bool { contentEncoding.map { $0.lowercased() != "identity" } ?? false }

  /// Why a 2xx to submitted events does not say that they were taken; nil if it does.
  ///
  /// No service defines the body of a success, so only one that cannot come from it, such as a proxy's page, or that speaks of errors keeps
  /// a 2xx from being an acknowledgement (reference guarantees 2.1).
  package var objection: String? {
    if isCompressed { return "the body is compressed" }
    // Neither service speaks UTF-16, in which markup and JSON would look like neither.
    let marks: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE]]
    if marks.contains(where: body.starts(with:)) || body.prefix(4).contains(0) { return "the body is not UTF-8" }
    let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
    guard let first = text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return nil }
    if first == UInt8(ascii: "<") { return "the body is markup" }
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
    // Only whether it is JSON matters here; where it breaks off does not.
    guard let node = try? JSONNode.parse(body) else { return "the body is not valid JSON" }
    let places = [node, node["meta"]].compactMap(\.self)
    let errors = ["errors", "error", "generalErrors", "fieldErrors"].flatMap { name in places.compactMap { $0[name] } }
    return errors.allSatisfy { Self.nothing.contains($0.canonicalText) } ? nil : "the body lists errors"
  }

  private static let nothing: Set = ["null", "false", "0", "\"\"", "[]", "{}"]
}
