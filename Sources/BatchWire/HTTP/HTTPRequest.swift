package import BatchFoundation

/// A request. It reaches the service at most once per call of ``HTTPClient/send(_:cancellation:)``.
package struct HTTPRequest: Sendable {
  package enum Method: String, Sendable { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

  package var method: Method
  package var address: ServiceAddress
  /// The path and query, percent-encoded.
  package var target: String
  package var headers: [Header]
  package var body: [UInt8]
  /// The total time limit in seconds; nil for the client's setting.
  package var totalSeconds: Double?
  /// The maximum size of the response's body in bytes; nil for the client's setting.
  package var answerLimit: Int?
  /// Whether a response that is cut off is kept as far as it arrived (``HTTPFault/partial``).
  package var keepsPartialAnswer = false

  package struct Header: Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package init(
    _ method: Method, _ address: ServiceAddress, _ target: String, headers: [Header] = [], body: [UInt8] = [],
    totalSeconds: Double? = nil
  ) {
    self.method = method
    self.address = address
    self.target = target
    self.headers = headers
    self.body = body
    self.totalSeconds = totalSeconds
  }

  /// Whether every part is valid in its place; a line break in a header's value would start another header.
  var isWellFormed: Bool {
    ServiceAddress.isTarget(target)
      && headers.allSatisfy { header in
        !header.name.isEmpty && header.name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
          && header.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
      }
  }
}

// Headers carry tokens, and bodies carry credentials and personal data, so no way of printing a request shows them.
extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String {
    "\(method.rawValue) \(address.origin)\(address.path)\(target.prefix { $0 != "?" && $0 != ";" }), \(body.count) bytes"
  }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension HTTPRequest.Header: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "\(name): <redacted>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// The proof that a body comes from someone who knows the environment's secret: the MD5 of the bytes on the wire with
/// the secret appended (reference deltadna-service 3.2).
package struct BodyHash: Sendable, Equatable {
  /// 32 hexadecimal digits in lower case, as the iOS SDK writes them.
  package let text: String

  package init(of body: [UInt8], secret: Secret) {
    // The service prescribes MD5; nothing else here relies on it.
    var hash = MD5()
    hash.update(body)
    hash.update(secret.reveal())
    text = Hexadecimal.text(of: hash.finalize())
  }

  /// Returns whether `given` is the same hash. Case is ignored, because Android and Unity write upper case.
  package func matches(_ given: some StringProtocol) -> Bool { given.lowercased().utf8.elementsEqual(text.utf8) }
}
