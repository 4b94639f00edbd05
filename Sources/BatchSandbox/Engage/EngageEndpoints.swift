import BatchFoundation
import BatchWire
import FoundationEssentials

/// A local Engage: OAuth, XMLAPI and event submission over a small database.
package final class EngageEndpoints: SandboxPlatform {
  let state: Guarded<SandboxState>
  private let concurrencyLimit: Int

  /// - Throws: ``CommandError`` if the folder for transferred files cannot be created.
  package init(_ options: EngageSandboxOptions) throws {
    state = Guarded(try SandboxState(options))
    concurrencyLimit = options.switches.concurrencyLimit
  }

  package func begin(_ time: SandboxTime) {
    state.withLock { $0.begin(time) }
  }

  // MARK: - Requests

  package func endpoint(of path: String) -> SandboxEndpoint? { SandboxEndpoint(engagePath: path) }

  package func limit(of endpoint: SandboxEndpoint) -> Int? {
    endpoint.isAuthenticated ? concurrencyLimit : nil
  }

  package func work(for request: inout SandboxRequest) -> SandboxWork {
    var envelope: ReceivedEnvelope?
    if request.endpoint == .xmlapi {
      envelope = ReceivedEnvelope(request.body, contentType: request.contentType)
      request.operations = envelope?.names ?? []
    }
    return { [envelope] request in self.state.withLock { $0.reply(to: request, envelope: envelope) } }
  }

  package func answer(toFault id: Int, text: String?, errorClass: String) -> SandboxAnswer {
    state.withLock { .xml($0.api.faultAnswer(.planned(id, text: text, errorClass: errorClass))) }
  }

  package func answer(to request: SandboxRequest, about person: String) -> SandboxAnswer? {
    guard case .operations(let operations) = ReceivedEnvelope(request.body, contentType: request.contentType) else {
      return nil
    }
    let results = operations.map { element in
      guard element.isNamed("SelectRecipientData"), let list = element.first("LIST_ID") else {
        return "<RESULT><SUCCESS>TRUE</SUCCESS><RecipientId>\(XMLWriter.escaped(person))</RecipientId>"
          + "<ORGANIZATION_ID>\(Organization.id)</ORGANIZATION_ID></RESULT>"
      }
      var (element, id) = (element, list)
      (id.name, id.text) = ("RECIPIENT_ID", person)
      element.elements = [list, id]
      let call = ReceivedCall(element: element)
      return state.withLock { $0.api.answer(call) }
    }
    return .xml("<Envelope><Body>\(results.joined())</Body></Envelope>")
  }

  package func expireTokens() { state.withLock { $0.tokens.expireAll() } }

  // MARK: - State

  package func inspection() -> [String: String] { state.withLock { $0.inspection() } }

  private struct Saved: Decodable {
    var organization: Organization
    var tokens: AccessTokens
  }

  package func savedState() throws -> [String: String] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return try state.withLock { state in
      [
        "organization": String(decoding: try encoder.encode(state.api.organization), as: UTF8.self),
        "tokens": String(decoding: try encoder.encode(state.tokens), as: UTF8.self),
      ]
    }
  }

  package func restore(from file: [UInt8]) throws {
    let saved = try JSONDecoder().decode(Saved.self, from: Data(file))
    state.withLock { state in
      let given = state.api.organization
      state.api.organization = saved.organization
      state.api.organization.files = given.files
      state.api.organization.addMissing(of: given)
      state.tokens = saved.tokens
    }
  }
}

extension SandboxEndpoint {
  package static let token = SandboxEndpoint(rawValue: "token")
  package static let xmlapi = SandboxEndpoint(rawValue: "xmlapi")
  package static let events = SandboxEndpoint(rawValue: "events")
  package static let eventErrors = SandboxEndpoint(rawValue: "eventErrors")
  package static let rest = SandboxEndpoint(rawValue: "rest")
  package static let files = SandboxEndpoint(rawValue: "files")

  package static let engage: [SandboxEndpoint] = [.token, .xmlapi, .events, .eventErrors, .rest, .files]

  /// Returns nil for a path that does not belong to Engage.
  init?(engagePath path: String) {
    let plain = path.split(separator: ";", maxSplits: 1).first.map(String.init) ?? path
    switch plain {
    case "/oauth/token": self = .token
    case "/XMLAPI", "/xmlapi": self = .xmlapi
    case "/rest/events/submission": self = .events
    case "/rest/events/errors": self = .eventErrors
    default:
      if plain.hasPrefix("/rest/") {
        self = .rest
      } else if plain.hasPrefix("/sandbox/files/") {
        self = .files
      } else {
        return nil
      }
    }
  }

  /// Whether the endpoint needs a token and counts toward the limit of concurrent requests.
  var isAuthenticated: Bool { [.xmlapi, .events, .eventErrors, .rest].contains(self) }
}

extension SandboxAnswer {
  static func xml(_ body: String) -> SandboxAnswer {
    SandboxAnswer(status: 200, contentType: "text/xml;charset=UTF-8", body: Array(body.utf8))
  }
}

extension SandboxRequest {
  /// The token from `Authorization: Bearer`; nil if missing.
  var bearer: Substring? {
    guard let authorization = header("authorization") else { return nil }
    let parts = authorization.split(separator: " ", maxSplits: 1)
    return parts.count == 2 && parts[0].lowercased() == "bearer" ? parts[1] : nil
  }

  /// The session id from `/XMLAPI;jsessionid=…`; nil if missing.
  var session: Substring? {
    let parts = path.split(separator: ";", maxSplits: 1)
    return parts.count == 2 && parts[1].hasPrefix("jsessionid=") ? parts[1].dropFirst("jsessionid=".count) : nil
  }
}

/// The OAuth tokens of the organization (reference identity 1.1 and 1.2).
struct AccessTokens: Sendable, Codable {
  struct Token: Sendable, Codable {
    var text: String
    var issued: Int64
    var expires: Int64
  }
  enum Grant: Sendable {
    case token(Token, isNew: Bool, needless: Bool)
    case limitExceeded
  }

  private var tokens: [Token] = []
  private var serial = 0
  /// The times of the calls within the last hour, for the hourly limit.
  private var calls: [Int64] = []
  private var lastGranted: Int64?

  /// Returns a token issued within the last `tokenReissueSeconds`, or a new one. Older ones stay valid until they
  /// expire.
  mutating func grant(at now: Instant, seed: UInt64, switches: SandboxSwitches) -> Grant {
    let time = now.milliseconds
    calls.removeAll { $0 <= time - 3_600_000 }
    if let limit = switches.tokenCallsPerHour, calls.count >= limit { return .limitExceeded }
    if switches.tokenCallsPerHour != nil { calls.append(time) }
    tokens.removeAll { $0.expires <= time }
    if let current = tokens.last, time < current.issued + switches.tokenReissueSeconds * 1000 {
      return .token(current, isNew: false, needless: lastGranted == current.issued)
    }
    serial += 1
    let token = Token(
      text: "T\(serial)-\(BodyDigest("\(seed)/\(serial)".utf8).text)", issued: time,
      expires: time + switches.tokenLifetimeSeconds * 1000)
    tokens.append(token)
    lastGranted = time
    return .token(token, isNew: true, needless: false)
  }

  func isValid(_ text: Substring, at now: Instant) -> Bool {
    tokens.contains { $0.expires > now.milliseconds && $0.text.utf8.elementsEqual(text.utf8) }
  }

  /// Invalidates all tokens, as if an administrator had revoked access. The next call issues a new one.
  mutating func expireAll() {
    tokens = []
    lastGranted = nil
  }
}
