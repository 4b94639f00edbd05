import BatchFoundation
import Glibc

/// Finds credentials for a storage service where AWS tools look for them, and renews them before they expire.
///
/// The first configured source counts: the variables `AWS_ACCESS_KEY_ID` and so on, a web identity, the
/// profile named by `AWS_PROFILE` or `default`, a container's endpoint. Instead of a key variable, a variable
/// with the suffix `_FILE` may name a file that contains the value.
final class CredentialSource: Sendable {
  /// The reason there are no usable credentials, without any secret.
  struct Problem: Error, Equatable { var words: String }

  private let environment: [String: String]
  private let region: String
  private let http: @Sendable () throws -> HTTPSettings
  private let now: @Sendable () -> Instant
  private let known = Guarded<StorageCredentials?>(nil)
  /// The remaining lifetime at which temporary credentials are renewed.
  private static let margin = Milliseconds(5 * 60_000)

  /// - Parameter region: the region of the token service, unless `AWS_ENDPOINT_URL_STS` is set.
  init(
    environment: [String: String], region: String, now: @escaping @Sendable () -> Instant = { .now },
    http: @escaping @Sendable () throws -> HTTPSettings
  ) {
    self.environment = environment.filter { !$0.value.isEmpty }
    (self.region, self.http, self.now) = (region, http, now)
  }

  /// Returns credentials that remain valid for some minutes.
  ///
  /// - Parameter refused: credentials that the service reported as expired, to be replaced by new ones.
  /// - Throws: ``Problem`` if credentials are missing or cannot be obtained; errors of `http`.
  func credentials(insteadOf refused: StorageCredentials? = nil) throws -> StorageCredentials {
    try known.withLock { known in
      if let present = known, present != refused, present.expires.map({ now() + Self.margin < $0 }) ?? true {
        return present
      }
      let found = try find()
      known = found
      return found
    }
  }

  private func find() throws -> StorageCredentials {
    if let id = try value("AWS_ACCESS_KEY_ID") {
      guard let secret = try value("AWS_SECRET_ACCESS_KEY") else {
        throw Problem(words: "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not")
      }
      return StorageCredentials(
        id: id, secret: Secret(secret), token: try value("AWS_SESSION_TOKEN").map { Secret($0) })
    }
    if let file = environment["AWS_WEB_IDENTITY_TOKEN_FILE"], let role = environment["AWS_ROLE_ARN"] {
      return try assume(
        role, tokenFile: file, namedBy: "AWS_WEB_IDENTITY_TOKEN_FILE", session: environment["AWS_ROLE_SESSION_NAME"])
    }
    let profile = AWSProfile(environment)
    if let found = try profile.credentials() { return found }
    if let role = profile["role_arn"], let file = profile["web_identity_token_file"] {
      return try assume(
        role, tokenFile: file, namedBy: "web_identity_token_file of the profile", session: profile["role_session_name"])
    }
    if let container = try containerAddress() { return try ask(container) }
    throw Problem(words: profile.problem ?? "neither the environment nor a file has any")
  }

  /// Returns a variable's value, or the content of the file that the variable with `_FILE` names; nil if neither is set.
  private func value(_ name: String) throws -> String? {
    if let value = environment[name] { return value }
    guard let path = environment[name + "_FILE"] else { return nil }
    return try Self.contents(of: path, namedBy: name + "_FILE")
  }

  private static func contents(of path: String, namedBy name: String) throws -> String {
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.read(path, largest: 1 << 16, takesPipes: true)
    } catch {
      throw Problem(words: "the file named by \(name) is unusable (\(error.reason))")
    }
    let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    guard !text.isEmpty else { throw Problem(words: "the file named by \(name) is empty") }
    return text
  }

  // MARK: - Containers

  private static let linkLocal: Set = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"]

  /// Returns the endpoint for container credentials, the only receiver of their token; nil if none is set.
  private func containerAddress() throws -> (address: ServiceAddress, target: String)? {
    let relative = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"].map { "http://169.254.170.2" + $0 }
    guard let uri = relative ?? environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else { return nil }
    // Every invalid address has the same remedy.
    guard let parts = RemoteAddress(uri), !parts.isBucket,
      let address = try? ServiceAddress("\(parts.scheme)://\(parts.host)", plainHosts: Self.linkLocal),
      LoopbackHost.contains(address.host) || Self.linkLocal.contains(address.host)
    else {
      throw Problem(
        words: relative == nil
          ? "AWS_CONTAINER_CREDENTIALS_FULL_URI is not an address of this machine, ECS or EKS"
          : "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not a path")
    }
    return (address, parts.key.isEmpty ? "/" : parts.key)
  }

  private func ask(_ container: (address: ServiceAddress, target: String)) throws -> StorageCredentials {
    var headers: [HTTPRequest.Header] = []
    if let token = try value("AWS_CONTAINER_AUTHORIZATION_TOKEN") {
      headers.append(.init("Authorization", Secret(token).reveal()))
    }
    var settings = try http()
    settings.proxy = .none
    let body = try answer(
      HTTPRequest(.get, container.address, container.target, headers: headers, totalSeconds: 10), settings,
      of: "the container's endpoint")
    // Invalid JSON has the same remedy as a missing key.
    guard let document = try? JSONNode.parse(body), let id = document["AccessKeyId"]?.string,
      let secret = document["SecretAccessKey"]?.string
    else { throw Problem(words: "the response from the container's endpoint has no access key") }
    return StorageCredentials(
      id: id, secret: Secret(secret), token: document["Token"]?.string.map { Secret($0) },
      expires: document["Expiration"]?.string.flatMap { Instant.parse(rfc3339: $0) })
  }

  // MARK: - Web identity

  private func assume(
    _ role: String, tokenFile: String, namedBy name: String, session: String?
  ) throws -> StorageCredentials {
    let token = Secret(try Self.contents(of: tokenFile, namedBy: name))
    let form = [
      ("Action", "AssumeRoleWithWebIdentity"), ("RoleArn", role), ("RoleSessionName", session ?? "engage-batch"),
      ("Version", "2011-06-15"), ("WebIdentityToken", token.reveal()),
    ].map { "\($0)=\(RequestSignature.encoded($1))" }.joined(separator: "&")
    let endpoint = environment["AWS_ENDPOINT_URL_STS"]
    // Every invalid address has the same remedy.
    guard let address = try? ServiceAddress(endpoint ?? "https://sts.\(region).amazonaws.com") else {
      let unset = "'\(region.printable)' is not a valid region"
      throw Problem(words: endpoint == nil ? unset : "AWS_ENDPOINT_URL_STS is not an https address")
    }
    let body = try answer(
      HTTPRequest(
        .post, address, "/", headers: [.init("Content-Type", "application/x-www-form-urlencoded")],
        body: Array(form.utf8), totalSeconds: 30), try http(), of: "the token service")
    // Invalid XML has the same remedy as a missing key.
    guard
      let found = try? XMLDocument.parse(body).first("AssumeRoleWithWebIdentityResult")?.first("Credentials"),
      let id = found.first("AccessKeyId")?.text, let secret = found.first("SecretAccessKey")?.text
    else { throw Problem(words: "the response from the token service has no access key") }
    return StorageCredentials(
      id: id, secret: Secret(secret), token: found.first("SessionToken").map { Secret($0.text) },
      expires: found.first("Expiration").flatMap { Instant.parse(rfc3339: $0.text) })
  }

  /// Sends a request that changes nothing, up to three times if the service fails or does not answer.
  private func answer(_ request: HTTPRequest, _ settings: HTTPSettings, of peer: String) throws -> [UInt8] {
    let client = HTTPClient(settings)
    var problem = ""
    for _ in 0..<3 {
      switch client.send(request) {
      case .answer(let answer) where answer.status == 200: return answer.body
      case .answer(let answer):
        problem = "\(peer) answered \(answer.status)"
        if answer.status < 500 { throw Problem(words: problem) }
      case .noAnswer(let fault), .notSent(let fault): problem = "\(peer) did not answer (\(fault))"
      }
    }
    throw Problem(words: problem)
  }
}

/// A profile in AWS files: `~/.aws/credentials` and `~/.aws/config`, or the files that variables name.
struct AWSProfile {
  private let name: String
  private var values: [String: String] = [:]
  /// The message if the profile has no credentials; nil if `AWS_PROFILE` is unset and no file is unreadable.
  private(set) var problem: String?

  init(_ environment: [String: String]) {
    let asked = environment["AWS_PROFILE"]
    name = asked ?? "default"
    let config = ["profile \(name)"] + (name == "default" ? [name] : [])
    let files = [("AWS_CONFIG_FILE", "config", config), ("AWS_SHARED_CREDENTIALS_FILE", "credentials", [name])]
    for (variable, file, sections) in files {
      guard let path = environment[variable] ?? environment["HOME"].map({ "\($0)/.aws/\(file)" }) else { continue }
      do {
        read(String(decoding: try RegularFile.read(path, largest: 1 << 20), as: UTF8.self), sections)
      } catch {
        // Either file may be missing; if both are, the profile has no credentials.
        if case .system(let error) = error, [ENOENT, ENOTDIR].contains(error.code) { continue }
        problem = "the profile file '\(path.printable)' is unusable (\(error.reason))"
      }
    }
    if let asked, problem == nil { problem = "the profile '\(asked.printable)' (AWS_PROFILE) has no access key" }
  }

  private mutating func read(_ text: String, _ sections: [String]) {
    var isWanted = false
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let first = words.first, !first.hasPrefix("#"), !first.hasPrefix(";") else { continue }
      if first.hasPrefix("[") {
        let header = words.joined(separator: " ").drop { $0 == "[" || $0 == " " }.prefix { $0 != "]" }
        isWanted = sections.contains(header.split(separator: " ").joined(separator: " "))
      } else if isWanted, line.first?.isWhitespace == false, let mark = line.firstIndex(of: "=") {
        let key = line[..<mark].filter { !$0.isWhitespace }.lowercased()
        values[key] = String(line[line.index(after: mark)...].trimming(while: \.isWhitespace))
      }
    }
  }

  subscript(key: String) -> String? { values[key].flatMap { $0.isEmpty ? nil : $0 } }

  func credentials() throws -> StorageCredentials? {
    guard let id = self["aws_access_key_id"] else { return nil }
    guard let secret = self["aws_secret_access_key"] else {
      throw CredentialSource.Problem(words: "the profile '\(name.printable)' has no aws_secret_access_key")
    }
    return StorageCredentials(id: id, secret: Secret(secret), token: self["aws_session_token"].map { Secret($0) })
  }
}
