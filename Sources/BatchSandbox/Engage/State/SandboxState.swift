import BatchFoundation
import BatchWire

/// The mutable state of Engage in the sandbox. One lock guards it, so requests are carried out one at a time.
struct SandboxState: Sendable {
  var api: XMLAPI
  var tokens = AccessTokens()
  var events: EventLog
  private let options: EngageSandboxOptions

  init(_ options: EngageSandboxOptions) throws {
    self.options = options
    var organization = Organization(seed: options.organization, now: options.server.clock.now)
    organization.files = try SandboxFiles(folder: options.filesFolder)
    api = XMLAPI(
      organization: organization, clock: SandboxTime(options.server.clock), switches: options.switches,
      createsWhatIsMissing: options.organization.createsWhatIsMissing, random: SplitMix64(seed: options.server.seed))
    events = EventLog(accounting: options.events, badEvents: options.switches.badEvents)
  }

  var now: Instant { api.clock.now }

  /// Replaces the initial clock with the server's.
  mutating func begin(_ time: SandboxTime) { api.clock = time }

  mutating func reply(to request: SandboxRequest, envelope: ReceivedEnvelope?) -> SandboxReply {
    if request.isOverTheGate {
      let fault = APIFault.concurrency(options.switches.concurrencyFault)
      let answer: SandboxAnswer =
        request.endpoint == .xmlapi
        ? .xml(api.faultAnswer(fault)) : .rest(options.switches.concurrencyStatus, error: fault.text)
      var reply = SandboxReply.refused(answer)
      reply.added.violation("over-the-gate")
      return reply
    }
    if request.endpoint.isAuthenticated, let answer = unauthorized(request, envelope) {
      return .refused(answer)
    }
    switch request.endpoint {
    case .token:
      var reply = tokenReply(request)
      reply.added.tokenCalls = 1
      return reply
    case .xmlapi: return xmlReply(request, envelope)
    case .events: return submissionReply(request)
    case .eventErrors: return errorsReply(request)
    case .rest: return restReply(request)
    case .files: return fileReply(request)
    default: return .refused(.html(404))
    }
  }

  // MARK: - Tokens

  private mutating func tokenReply(_ request: SandboxRequest) -> SandboxReply {
    guard request.method == "POST", let form = parseForm(request.body) else {
      return .refused(Self.oauthError(400, "invalid_request", "The request is not a POST with a form"))
    }
    let fields = Dictionary(form.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    guard fields["grant_type"]?.utf8.elementsEqual("refresh_token".utf8) == true else {
      return .refused(Self.oauthError(400, "unsupported_grant_type", "Only refresh_token is supported"))
    }
    let given = ["client_id", "client_secret", "refresh_token"].map { Array((fields[$0] ?? "").utf8) }
    if let wanted = options.switches.credentials {
      if given[0] != Array(wanted.clientID.utf8) || given[1] != Array(wanted.secret.utf8) {
        return .refused(Self.oauthError(401, "invalid_client", "Bad client credentials"))
      }
      if given[2] != Array(wanted.refreshToken.utf8) {
        return .refused(Self.oauthError(401, "invalid_token", "Invalid refresh token"))
      }
    } else if given.contains([]) {
      return .refused(Self.oauthError(401, "invalid_client", "Bad client credentials"))
    }
    switch tokens.grant(at: now, seed: options.server.seed, switches: options.switches) {
    case .limitExceeded:
      return .refused(Self.oauthError(400, "invalid_request", "Access token limits exceeded."))
    case .token(let token, let isNew, let needless):
      let left = (token.expires - now.milliseconds) / 1000
      let expires = options.switches.quotesExpiresIn ? "\"\(left)\"" : "\(left)"
      let refresh = JSONString.quoted(fields["refresh_token"] ?? "")
      var reply = SandboxReply.done(
        .json(
          200,
          "{\"access_token\":\"\(token.text)\",\"token_type\":\"bearer\",\"refresh_token\":\(refresh),\"expires_in\":\(expires)}"
        ))
      if isNew { reply.added.tokensIssued = 1 }
      if needless { reply.added.violation("needless-token-call") }
      reply.changesState = true
      return reply
    }
  }

  private static func oauthError(_ status: Int, _ error: String, _ description: String) -> SandboxAnswer {
    .json(status, "{\"error\":\"\(error)\",\"error_description\":\"\(description)\"}")
  }

  /// Returns the refusal of a request without a valid token or session; nil if it may proceed.
  private mutating func unauthorized(_ request: SandboxRequest, _ envelope: ReceivedEnvelope?) -> SandboxAnswer? {
    if let token = request.bearer, tokens.isValid(token, at: now) { return nil }
    if let session = request.session, api.organization.sessions.contains(where: { $0.utf8.elementsEqual(session.utf8) })
    {
      if request.operationsAre("Logout") {
        api.organization.sessions.removeAll { $0.utf8.elementsEqual(session.utf8) }
      }
      return nil
    }
    // Login starts a session, so it cannot require one.
    if request.operationsAre("Login") { return nil }
    let denied = Self.oauthError(401, "invalid_token", "access token has expired")
    guard request.endpoint == .xmlapi else { return denied }
    switch options.switches.expiredToken {
    case .status401: return denied
    case .fault145: return .xml(api.faultAnswer(.sessionExpired))
    case .faultText: return .xml(api.faultAnswer(.tokenExpired))
    case .empty: return SandboxAnswer(status: 200)
    }
  }

  // MARK: - XMLAPI

  private mutating func xmlReply(_ request: SandboxRequest, _ envelope: ReceivedEnvelope?) -> SandboxReply {
    api.settleJobs()
    switch envelope {
    case .operations(let operations):
      var reply = SandboxReply.done(.xml(api.answer(operations)))
      for operation in operations { reply.added.operations[operation.name, default: 0] += 1 }
      reply.changesState = true
      return reply
    case .refused(let fault):
      var reply = SandboxReply.refused(.xml(api.faultAnswer(fault)))
      reply.added.violation("malformed-body")
      return reply
    case nil:
      return .refused(.xml(api.faultAnswer(.serverError)))
    }
  }

  // MARK: - REST

  private mutating func submissionReply(_ request: SandboxRequest) -> SandboxReply {
    guard request.method == "POST" else { return .refused(.rest(405, error: "Method not allowed")) }
    let lists = api.organization.lists
    return unsafe request.withBody { bytes in
      unsafe events.submit(bytes, switches: options.switches) { id in lists.values.contains { $0[id] != nil } }
    }
  }

  private mutating func errorsReply(_ request: SandboxRequest) -> SandboxReply {
    var after = 0
    var limit = 1000
    for item in request.queryItems {
      switch item.name {
      case "filter": after = Int(item.value.split { "=> ".contains($0) }.last ?? "") ?? 0
      case "limit": limit = Int(item.value) ?? limit
      default: break
      }
    }
    return .done(.rest(data: events.errors(after: after, limit: max(limit, 0))))
  }

  private mutating func restReply(_ request: SandboxRequest) -> SandboxReply {
    let parts = request.path.split(separator: "/")
    guard request.method == "GET" else { return .refused(.rest(405, error: "Method not allowed")) }
    if parts.count == 3, parts[1] == "eventtypes" {
      guard let code = Int64(parts[2]), let name = EventLog.types[code] else {
        return .refused(.rest(404, error: "Event type does not exist"))
      }
      return .done(.rest(data: "{\"code\":\(code),\"name\":\"\(name)\",\"attributes\":[]}"))
    }
    if parts.count == 4, parts[1] == "databases", parts[3] == "eventtypemappings" {
      guard api.organization.lists[ByteText(String(parts[2]))] != nil else {
        return .refused(.rest(404, error: "Database does not exist"))
      }
      let codes = EventLog.types.keys.sorted().map { "{\"eventTypeCode\":\($0)}" }
      return .done(.rest(data: "[\(codes.joined(separator: ","))]"))
    }
    return .refused(.rest(404, error: "Not found"))
  }

  // MARK: - Files

  /// Serves `/sandbox/files/upload/NAME` and `/sandbox/files/download/NAME`, which replace SFTP.
  private mutating func fileReply(_ request: SandboxRequest) -> SandboxReply {
    api.settleJobs()
    // A path is percent-encoded like a form, except that `+` is literal.
    let encoded = Array(request.path.utf8.map { $0 }).split(separator: UInt8(ascii: "/"))
    let plus = encoded.last.map { $0.flatMap { $0 == UInt8(ascii: "+") ? Array("%2B".utf8) : [$0] } } ?? []
    guard encoded.count == 4, let area = SandboxFiles.Area(rawValue: String(decoding: encoded[2], as: UTF8.self)),
      let name = parseForm(plus)?.first?.name, !name.contains("/"), SandboxFiles.plainName(name) != nil
    else { return .refused(.html(404)) }
    switch request.method {
    case "GET":
      guard let bytes = api.organization.files.read(area, name) else {
        return .refused(.html(404))
      }
      return .done(SandboxAnswer(status: 200, contentType: "application/octet-stream", body: bytes))
    case "PUT":
      do {
        try api.organization.files.write(area, name, request.body)
        return .done(SandboxAnswer(status: 201))
      } catch {
        return .refused(.rest(500, error: "The file could not be written"))
      }
    default:
      return .refused(.rest(405, error: "Method not allowed"))
    }
  }
}

extension SandboxRequest {
  fileprivate func operationsAre(_ name: String) -> Bool {
    operations.count == 1 && operations[0].utf8.elementsEqual(name.utf8)
  }
}

extension SandboxState {
  /// Returns Engage's part of `GET /sandbox/state`.
  mutating func inspection() -> [String: String] {
    api.settleJobs()
    let lists = api.organization.sortedLists.map { list -> JSONNode in
      let recipients = list.all.map { recipient -> JSONNode in
        let values = list.columns.enumerated().map { ($1.name.string, recipient.value($0)) }
        return [
          "id": .text("\(recipient.id)"), "optedOut": .flag(recipient.optedOut != nil),
          "values": .object(values.filter { !$1.isEmpty }.map { ($0, .text($1.string)) }),
        ]
      }
      return [
        "id": .text(list.id.string), "name": .text(list.name.string),
        "keyColumns": .texts(list.keyColumns.map(\.string)), "columns": .texts(list.columns.map(\.name.string)),
        "recipients": .array(recipients),
      ]
    }
    let tables = api.organization.tables.values.sorted { $0.id < $1.id }.map { table -> JSONNode in
      let rows = table.rows.map { row in JSONNode.object(row.map { ($0.key.string, .text($0.value.string)) }) }
      return [
        "id": .text(table.id.string), "name": .text(table.name.string),
        "keyColumns": .texts(table.keyColumns.map(\.string)), "rows": .array(rows),
      ]
    }
    let jobs = api.organization.jobs.values.sorted { $0.id < $1.id }.map { job -> JSONNode in
      ["id": .number(job.id), "status": .text(job.status.rawValue), "description": .text(job.description)]
    }
    return [
      "lists": JSONNode.array(lists).canonicalText, "tables": JSONNode.array(tables).canonicalText,
      "jobs": JSONNode.array(jobs).canonicalText, "appliedEvents": sandboxJSON(events.applied),
      "refusedEvents": "\(events.refused.count)",
    ]
  }
}

/// The formats in which the service writes a date and time in UTC (reference identity 2.4).
extension CivilTime {
  private var twelveHour: Int { hour % 12 == 0 ? 12 : hour % 12 }
  private var halfOfDay: String { hour < 12 ? "AM" : "PM" }

  /// `6/25/26 3:29 PM`, as in SelectRecipientData.
  var recipientForm: String {
    "\(month)/\(day)/\(twoDigits(year % 100)) \(twelveHour):\(twoDigits(minute)) \(halfOfDay)"
  }

  /// `06/25/26 03:29 PM`, as in GetListMetaData.
  var listForm: String {
    "\(twoDigits(month))/\(twoDigits(day))/\(twoDigits(year % 100)) "
      + "\(twoDigits(twelveHour)):\(twoDigits(minute)) \(halfOfDay)"
  }

  /// `Jan 31 2026 11-59-59 PM`, as in the names of exported files.
  var fileForm: String {
    "\(Self.months[month - 1]) \(day) \(year) \(twoDigits(twelveHour))-\(twoDigits(minute))-\(twoDigits(second)) \(halfOfDay)"
  }
}

/// Returns whether a date column accepts the string: `MM/dd/yyyy` or `yyyy-MM-dd`, optionally followed by a
/// time, `HH:mm` or `HH:mm:ss`. After a time, `AM` or `PM` may follow, and then, if `zone` is true, `GMT` or
/// `UTC`.
func isServiceDate(_ text: String, zone: Bool) -> Bool {
  var parts = text.split(separator: " ", omittingEmptySubsequences: false).map { Array($0.utf8) }
  guard let day = parts.first, fits(day, "dd/dd/dddd") || fits(day, "dddd-dd-dd") else { return false }
  let numbers = String(decoding: day, as: UTF8.self).split { $0 == "/" || $0 == "-" }.compactMap { Int($0) }
  let (year, month, date) =
    day[2] == UInt8(ascii: "/") ? (numbers[2], numbers[0], numbers[1]) : (numbers[0], numbers[1], numbers[2])
  guard CivilTime(year: year, month: month, day: date) != nil else { return false }
  parts.removeFirst()
  if parts.isEmpty { return true }
  guard fits(parts[0], "dd:dd:dd") || fits(parts[0], "dd:dd") else { return false }
  let time = String(decoding: parts[0], as: UTF8.self).split(separator: ":").compactMap { Int($0) }
  guard time[0] < 24, time[1] < 60, time.count < 3 || time[2] < 60 else { return false }
  parts.removeFirst()
  if let half = parts.first, half.elementsEqual("AM".utf8) || half.elementsEqual("PM".utf8) { parts.removeFirst() }
  guard let suffix = parts.first else { return true }
  return zone && parts.count == 1 && (suffix.elementsEqual("GMT".utf8) || suffix.elementsEqual("UTC".utf8))
}

/// Returns whether the bytes match the pattern, in which each `d` matches a digit, and each `x` a hexadecimal digit.
func fits(_ bytes: [UInt8], _ pattern: String) -> Bool {
  bytes.count == pattern.utf8.count
    && zip(bytes, pattern.utf8).allSatisfy { byte, wanted in
      switch wanted {
      case UInt8(ascii: "d"): byte.isASCIIDigit
      case UInt8(ascii: "x"): Hexadecimal.value(of: byte) != nil
      default: byte == wanted
      }
    }
}
