import BatchFoundation

/// The head of a response, parsed line by line. libcurl treats a response as complete even if the connection ended
/// within the head or the length overflows, so completeness is checked here.
struct HTTPAnswerHead {
  private(set) var status: Int?
  /// Whether the empty line that ends the head has arrived.
  private(set) var isWhole = false
  /// The fields in `kept`, by their lower-case names.
  private(set) var fields: [String: String] = [:]
  /// The distinct values of `Content-Length`.
  private var lengths: Set<String> = []
  private var isInPieces = false

  private static let kept: Set<String> = [
    "content-type", "content-encoding", "retry-after", "date", "keep-alive", "location", "etag", "content-range",
    "x-amz-bucket-region",
  ]

  /// Parses the next line, which may also belong to an interim response or a trailer.
  mutating func take(_ line: String) {
    if line.hasPrefix("HTTP/") {
      self = HTTPAnswerHead()
      status = line.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) }
    } else if isWhole {
      // Trailers are not needed.
    } else if line == "\r\n" || line == "\n" {
      isWhole = true
    } else if let colon = line.firstIndex(of: ":") {
      note(line[..<colon].lowercased(), String(line[line.index(after: colon)...].trimming(while: \.isWhitespace)))
    }
  }

  private mutating func note(_ name: String, _ value: String) {
    switch name {
    case "content-length": lengths.insert(value)
    case "transfer-encoding": if value.lowercased().contains("chunked") { isInPieces = true }
    // The first value counts: there is no good reason to repeat these fields.
    default: if Self.kept.contains(name), fields[name] == nil { fields[name] = value }
    }
  }

  /// The length that the head gives for the body; 0 if it gives none.
  var expectedBytes: Int { max(0, lengths.first.flatMap { Int($0) } ?? 0) }

  /// Returns the reason, other than a connection fault, why a response with a body of `count` bytes is incomplete; nil
  /// if it is complete.
  func flaw(bodyOf count: Int) -> HTTPFault.Kind? {
    guard let status, status >= 200 else { return .protocolViolation }
    guard isWhole else { return .cut }
    // libcurl checks the end of a chunked body. A body without a length ends with the connection.
    if isInPieces || lengths.isEmpty { return nil }
    guard lengths.count == 1, let length = lengths.first, length.utf8.allSatisfy(\.isASCIIDigit),
      let length = Int(length)
    else { return .protocolViolation }
    let hasBody = status != 204 && status != 304
    return hasBody && count != length ? .cut : nil
  }

  /// The number of seconds for which the service keeps an idle connection open; nil if it does not say.
  var keepAliveSeconds: Int? {
    let parameters = fields["keep-alive"]?.lowercased().split(separator: ",") ?? []
    return parameters.compactMap { parameter in
      let pair = parameter.split(separator: "=").map { $0.trimming(while: \.isWhitespace) }
      return pair.count == 2 && pair[0] == "timeout" ? Int(pair[1]) : nil
    }.first
  }
}
