package import BatchFoundation
package import BatchWire

/// The address of one environment: an endpoint followed by the environment's key (reference deltadna-service 3.1) or
/// another path. The key and the hash secret stay secret even as parts of an address; ``shown`` is for display.
package struct EnvironmentAddress: Sendable {
  package enum Fault: Error, Equatable, Sendable {
    case endpoint(ServiceAddress.Fault)
    /// The key is not a segment of a URL's path (``EnvironmentAddress/isSegment(_:)``).
    case key
  }

  package let service: ServiceAddress
  /// Nil if the environment is named by `path`.
  private let key: Secret?
  private let path: String
  private let hashSecret: Secret?

  /// - Parameters:
  ///   - endpoint: the scheme becomes `https` if it is missing or `http`, except that `http` to a loopback address is
  ///     kept.
  ///   - hashSecret: nil or empty for an environment without hashing.
  /// - Throws: the first ``Fault``.
  package init(endpoint: String, key: Secret, hashSecret: Secret?) throws(Fault) {
    do {
      service = try ServiceAddress(Self.secured(endpoint))
    } catch {
      throw .endpoint(error)
    }
    guard Self.isSegment(key.reveal()) else { throw .key }
    self.key = key
    path = ""
    self.hashSecret = hashSecret.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Creates the address of an environment without a key; the scheme becomes `https` as above.
  package init(endpoint: String, path: String) throws(ServiceAddress.Fault) {
    service = try ServiceAddress(Self.secured(endpoint))
    (key, hashSecret) = (nil, nil)
    self.path = path
  }

  /// Returns the path of one request: the key or the path, then the `call` if any (such as `bulk`), then, with a hash
  /// secret, the hash of the body. The service then refuses a body that differs in any byte.
  func target(_ call: String?, for body: [UInt8]) -> String {
    var path = key.map { "/\($0.reveal())" } ?? self.path
    if let call { path += "/\(call)" }
    if let hashSecret { path += "/hash/\(BodyHash(of: body, secret: hashSecret).text)" }
    return path
  }

  /// The endpoint for display, with the key and the hash secret hidden if its path contains them.
  package var shown: String {
    let secrets = [key, hashSecret].compactMap(\.self)
    let path = service.path.split(separator: "/").map { part in
      secrets.reduce(String(part)) { $1.hidden(in: $0) }
    }
    return ([service.origin] + path).joined(separator: "/")
  }

  /// Returns the endpoint with `https` if it has no scheme or `http`; `http` to a loopback address is kept.
  package static func secured(_ endpoint: String) -> String {
    guard let mark = endpoint.utf8.firstRange(of: Array("://".utf8)) else { return "https://" + endpoint }
    guard endpoint[..<mark.lowerBound].lowercased().utf8.elementsEqual("http".utf8) else { return endpoint }
    do {
      // Plain HTTP is allowed only for connections to this machine.
      _ = try ServiceAddress(endpoint)
      return endpoint
    } catch ServiceAddress.Fault.plainText {
      return "https" + endpoint[mark.lowerBound...]
    } catch {
      return endpoint
    }
  }

  /// Returns whether the text is one segment of a path, of characters without a special meaning in a URL (RFC 3986, 2.3
  /// and 3.3).
  static func isSegment(_ text: String) -> Bool {
    ![".", "..", ""].contains(text)
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
  }
}
