import NIOHTTP1

/// Whether a request is meant for the sandbox: a page of another site, or a name that was bent to the loopback, is not.
enum OwnHost {
  private static let names = ["localhost", "127.0.0.1", "[::1]"]

  /// By `Host` and `Origin`; one that is not there is none of another.
  static func accepts(_ headers: HTTPHeaders) -> Bool {
    let hosts = headers["Host"].map { Substring($0) }
    let origins = headers["Origin"].map { origin in
      ["http://", "https://"].first { origin.hasPrefix($0) }.map { origin.dropFirst($0.count) } ?? Substring(origin)
    }
    return (hosts + origins).allSatisfy(isOwn)
  }

  private static func isOwn(_ host: Substring) -> Bool {
    names.contains { name in
      guard host.lowercased().hasPrefix(name) else { return false }
      let port = host.dropFirst(name.count)
      return port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }
  }
}
