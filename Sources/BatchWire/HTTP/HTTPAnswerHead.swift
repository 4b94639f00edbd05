/// The head of an answer, as it comes line by line.
///
/// libcurl takes an answer for whole whose connection ended within the head, or whose length is a number beyond its own: whether nothing
/// is missing is therefore looked at here.
struct HTTPAnswerHead {
  private(set) var status: Int?
  /// Whether the empty line came with which a head ends.
  private(set) var isWhole = false
  private var fields: [String: String] = [:]
  /// What it says of the body's length, each wording once.
  private var lengths: Set<String> = []
  private var isInPieces = false

  private static let kept: Set<String> = [
    "content-type", "content-encoding", "retry-after", "date", "keep-alive", "location",
  ]

  /// The value of one of the fields that are kept; by its name in lower case.
  subscript(name: String) -> String? { fields[name] }

  /// Takes the next line, interim answers and trailers included.
  mutating func take(_ line: String) {
    if line.hasPrefix("HTTP/") {
      self = HTTPAnswerHead()
      status = line.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) }
    } else if isWhole {
      // Trailers say nothing that is asked here.
    } else if line == "\r\n" || line == "\n" {
      isWhole = true
    } else if let colon = line.firstIndex(of: ":") {
      note(line[..<colon].lowercased(), String(line[line.index(after: colon)...].trimmingBlanks()))
    }
  }

  private mutating func note(_ name: String, _ value: String) {
    switch name {
    case "content-length": lengths.insert(value)
    case "transfer-encoding": if value.lowercased().contains("chunked") { isInPieces = true }
    // The first one holds: nobody sends these twice for a good reason.
    default: if Self.kept.contains(name), fields[name] == nil { fields[name] = value }
    }
  }

  /// Why an answer that ended without a fault of the connection is not whole; nil if it is.
  ///
  /// - Parameter count: bytes of the body.
  func flaw(bodyOf count: Int) -> HTTPFault.Kind? {
    guard let status, status >= 200 else { return .protocolViolation }
    guard isWhole else { return .cut }
    // A body in pieces holds the mark of its end, which libcurl looks for. One without a length ends with the connection.
    if isInPieces || lengths.isEmpty { return nil }
    guard lengths.count == 1, let length = lengths.first, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let length = Int(length)
    else { return .protocolViolation }
    let hasBody = status != 204 && status != 304
    return hasBody && count != length ? .cut : nil
  }

  /// For how many seconds the service keeps the connection; nil if it does not say.
  var keepAliveSeconds: Int? {
    let parameters = fields["keep-alive"]?.lowercased().split(separator: ",") ?? []
    return parameters.compactMap { parameter in
      let pair = parameter.split(separator: "=").map { $0.trimmingBlanks() }
      return pair.count == 2 && pair[0] == "timeout" ? Int(pair[1]) : nil
    }.first
  }
}

extension Substring {
  fileprivate func trimmingBlanks() -> Substring {
    drop(while: \.isWhitespace).dropLast(while: \.isWhitespace)
  }

  private func dropLast(while condition: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, condition(last) { rest = rest.dropLast() }
    return rest
  }
}
