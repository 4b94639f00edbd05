/// Whether a request is meant for the sandbox: a page of another site, or a name that was bent to the loopback, is not.
enum OwnHost {
  private static let names = ["localhost", "127.0.0.1", "[::1]"]

  /// By `Host` and `Origin`; one that is not there is none of another.
  static func accepts(_ head: RequestHead) -> Bool {
    let hosts = head.headers.filter { $0.name.lowercased() == "host" }.map { Substring($0.value) }
    let origins = head.headers.filter { $0.name.lowercased() == "origin" }.map { _, origin in
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
