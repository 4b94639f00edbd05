import BatchFoundation

/// The head of an HTTP/1.0 or HTTP/1.1 request.
struct RequestHead: Sendable {
  var method: String
  /// The path and query as sent.
  var target: String
  /// Whether the version is HTTP/1.1 rather than 1.0.
  var isModern: Bool
  /// The headers in order; names and values without surrounding white space.
  var headers: [(name: String, value: String)]

  /// Returns the first value of a header, ignoring the case of its name.
  subscript(name: String) -> String? {
    headers.first { $0.name.utf8.elementsEqual(name.utf8, by: { Text.lowered($0) == Text.lowered($1) }) }?.value
  }

  /// Whether the client intends to reuse the connection.
  var isKeptAlive: Bool {
    let wishes = self["connection"]?.lowercased() ?? ""
    return isModern ? !wishes.contains("close") : wishes.contains("keep-alive")
  }

  /// The way the end of the body is found.
  enum Framing: Equatable {
    case length(Int)
    case chunks
  }

  /// - Throws: ``RequestError`` for an invalid length, different lengths, or an encoding other than
  ///   `chunked`.
  var framing: Framing {
    get throws(RequestError) {
      let encoding = self["transfer-encoding"]
      let lengths = headers.filter { $0.name.lowercased() == "content-length" }.map(\.value)
      if let encoding {
        guard encoding.lowercased() == "chunked", lengths.isEmpty else { throw RequestError() }
        return .chunks
      }
      guard let first = lengths.first else { return .length(0) }
      guard lengths.allSatisfy({ $0 == first }), first.utf8.allSatisfy(\.isASCIIDigit),
        let length = Int(first)
      else { throw RequestError() }
      return .length(length)
    }
  }

  /// - Parameter text: the lines up to the empty one.
  /// - Throws: ``RequestError`` for anything but a head of HTTP/1.0 or 1.1.
  init(_ text: ArraySlice<UInt8>) throws(RequestError) {
    var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
      line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }[...]
    let first = lines.removeFirst().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard first.count == 3, !first[0].isEmpty, first[0].allSatisfy(\.isToken), !first[1].isEmpty,
      first[1].allSatisfy({ $0 > 32 && $0 != 127 })
    else { throw RequestError() }
    switch String(decoding: first[2], as: UTF8.self) {
    case "HTTP/1.1": isModern = true
    case "HTTP/1.0": isModern = false
    default: throw RequestError()
    }
    method = String(decoding: first[0], as: UTF8.self)
    target = String(decoding: first[1], as: UTF8.self)
    headers = []
    for line in lines {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
        line[..<colon].allSatisfy(\.isToken)
      else { throw RequestError() }
      let value = line[(colon + 1)...].trimming { $0 == 32 || $0 == 9 }
      headers.append((String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
  }
}

/// The received bytes are not a valid request.
struct RequestError: Error {}

extension UInt8 {
  /// Whether the byte may be part of a header name or a method (RFC 9110, 5.6.2).
  fileprivate var isToken: Bool { isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }
}
