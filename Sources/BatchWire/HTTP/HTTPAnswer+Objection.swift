package import BatchFoundation

extension HTTPAnswer {
  /// Whether the body has a content encoding, although none was requested.
  package var isCompressed: Bool { contentEncoding.map { $0.lowercased() != "identity" } ?? false }

  /// A description of the target of a redirect: another host or the same one; nil if the response names no target. The
  /// rest of the URL is left out, because it may be secret.
  package var redirection: String? {
    guard let location else { return nil }
    let parts = location.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count > 2, parts[0].isEmpty || parts[0].hasSuffix(":"), parts[1].isEmpty else {
      return "to the same host"
    }
    let host = parts[2].split(separator: "@").last ?? ""
    return "to \(host.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-.:[]".contains($0)) })"
  }

  /// A description of a body that is a web page rather than the service's response; nil for any other body.
  package var page: String? {
    let start = String(decoding: start.prefix(15), as: UTF8.self).lowercased()
    let isPage = start.hasPrefix("<html") || start.hasPrefix("<!doctype html")
    return isPage ? "the body is a web page, such as a login or maintenance page" : nil
  }

  /// The body without a byte order mark or leading white space.
  private var start: ArraySlice<UInt8> {
    (body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...])
      .drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
  }

  /// The reason why a response with a 2xx status does not acknowledge the submitted events; nil if it does.
  ///
  /// No service defines the body of such a response. Therefore a 2xx status is an acknowledgement unless the body
  /// reports errors or cannot be the service's, such as a proxy's page (reference guarantees 2.1).
  package var objection: String? {
    if isCompressed { return "the body is compressed" }
    // No service sends UTF-16, in which markup and JSON would not be recognized.
    let marks: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE]]
    if marks.contains(where: body.starts(with:)) || body.prefix(4).contains(0) { return "the body is not UTF-8" }
    guard let first = start.first else { return nil }
    if first == UInt8(ascii: "<") { return page ?? "the body is markup" }
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
    // Only whether it is JSON matters here, not where the error is.
    guard let node = try? JSONNode.parse(body) else { return "the body is not valid JSON" }
    guard Self.errors(node).allSatisfy({ Self.nothing.contains($0.canonicalText) }) else {
      return "the body lists errors"
    }
    return node["success"]?.bool == false ? "the body reports a failure" : nil
  }

  /// Returns the values of those members of a JSON response that report errors.
  package static func errors(_ node: JSONNode) -> [JSONNode] {
    let places = [node, node["meta"]].compactMap(\.self)
    return ["errors", "error", "generalErrors", "fieldErrors"].flatMap { name in places.compactMap { $0[name] } }
  }

  private static let nothing: Set = ["null", "false", "0", "\"\"", "[]", "{}"]
}
