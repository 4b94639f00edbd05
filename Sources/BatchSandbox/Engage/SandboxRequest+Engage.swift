extension SandboxRequest {
  /// The token of `Authorization: Bearer`; nil without one.
  var bearer: Substring? {
    guard let authorization = header("authorization") else { return nil }
    let parts = authorization.split(separator: " ", maxSplits: 1)
    return parts.count == 2 && parts[0].lowercased() == "bearer" ? parts[1] : nil
  }

  /// The session of `/XMLAPI;jsessionid=…`.
  var session: Substring? {
    let parts = path.split(separator: ";", maxSplits: 1)
    return parts.count == 2 && parts[1].hasPrefix("jsessionid=") ? parts[1].dropFirst("jsessionid=".count) : nil
  }
}
