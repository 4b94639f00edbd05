package import BatchFoundation
import BatchWire
package import EventSchemas

/// The mutable state of deltaDNA in the sandbox. One lock guards it, so requests are carried out one at a time.
struct DeltaDNAState: Sendable {
  var time = SandboxTime(SandboxClock())
  var verdicts: VerdictLog
  private let options: DeltaDNASandboxOptions
  private var users: UInt64 = 0
  private var decisions: Int64 = 0

  init(_ options: DeltaDNASandboxOptions) {
    self.options = options
    verdicts = VerdictLog(limit: options.listedEvents)
  }

  mutating func reply(to request: SandboxRequest, at path: DeltaDNAPath) -> SandboxReply {
    if path.endpoint == .collectUser {
      guard request.method == "GET" else { return .refused(.text(405, "Only GET is allowed here")) }
      return .done(.json(200, "{\"userID\":\"\(newUser())\"}"))
    }
    guard !path.isUnknown else { return .refused(.text(404, "There is nothing at this address")) }
    guard request.method == "POST" else { return .refused(.text(405, "Only POST is allowed here")) }
    if let keys = options.environmentKeys, !keys.contains(ByteText(path.key)) {
      return .refused(.text(404, "Unknown environment key"))
    }
    return unsafe request.withBody { body in
      guard body.count <= options.largestBody else {
        return .refused(
          .text(413, "The request is \(body.count) bytes long; at most \(options.largestBody) are allowed"))
      }
      if let refusal = unsafe hashRefusal(path, body) { return refusal }
      var reply = unsafe path.endpoint == .collect ? collect(body, path, request) : decide(body)
      if !Self.isJSON(request.contentType) { reply.added.violation("content-type") }
      return reply
    }
  }

  private static func isJSON(_ type: String) -> Bool {
    type.split(separator: ";", maxSplits: 1).first?.lowercased() == "application/json"
  }

  private func hashRefusal(_ path: DeltaDNAPath, _ body: UnsafeRawBufferPointer) -> SandboxReply? {
    guard let secret = options.hashSecret else { return nil }
    // The response must not contain the correct hash, because anyone could then send this body.
    guard let given = path.hash else { return .refused(.text(403, "The URL contains no hash")) }
    guard unsafe BodyHash(of: Array(body), secret: secret).matches(given) else {
      return .refused(.text(403, "The hash does not match the body of \(body.count) bytes"))
    }
    return nil
  }

  /// Returns a user id formatted like an iPhone's. The sequence of ids depends only on the seed.
  private mutating func newUser() -> String {
    users += 1
    let one = SplitMix64.mix(options.seed &+ users &* SplitMix64.step)
    let digits = Array((Hexadecimal.text(of: one) + Hexadecimal.text(of: SplitMix64.mix(one))).uppercased().utf8)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
    return parts.joined(separator: "-")
  }

  // MARK: - Collect

  private mutating func collect(
    _ body: UnsafeRawBufferPointer, _ path: DeltaDNAPath, _ request: SandboxRequest
  ) -> SandboxReply {
    var judge = EventJudge(options, now: time.now)
    return SandboxReply(
      unsafe judge.read(body, isBulk: path.isBulk, request: request.sequence, into: &verdicts))
  }

  // MARK: - Engage

  /// Above 2^53, like the transaction ids of the service.
  private static let firstTransaction: Int64 = 2_184_816_393_350_012_928

  private mutating func decide(_ body: UnsafeRawBufferPointer) -> SandboxReply {
    // The kind of syntax error does not matter: the service gives no details.
    guard let root = unsafe try? JSONNode.parse(Array(body)), root.members != nil else {
      return .refused(.text(400, "Request body couldn't be processed: it is not a JSON object"))
    }
    guard let point = root["decisionPoint"]?.string, !point.utf8.isEmpty, let user = root["userID"]?.string,
      !user.utf8.isEmpty, root["platform"]?.string != nil, Self.isVersion(root["version"])
    else {
      return .refused(
        .text(400, "Request body couldn't be processed: One or more of the compulsory parameters are missing!"))
    }
    let flavour = root["flavour"]?.string ?? "engagement"
    decisions += 1
    let answer =
      options.decisions[ByteText("\(point)@\(flavour)")]?.canonicalText
      ?? "{\"transactionID\":\(Self.firstTransaction + decisions),\"parameters\":{},"
      + "\"eventParams\":{\"responseDecisionpointName\":\(JSONString.quoted(point)),"
      + "\"responseTransactionID\":\(Self.firstTransaction + decisions)}}"
    return .done(.json(200, answer))
  }

  /// Returns whether the API version is 4. iOS and Unity send it as a string, Android as a number.
  private static func isVersion(_ node: JSONNode?) -> Bool {
    node?.string?.utf8.elementsEqual("4".utf8) == true || node?.integer == 4
  }
}

/// The options of one deltaDNA sandbox. The defaults are those of the embedded `--sandbox`.
package struct DeltaDNASandboxOptions: Sendable {
  /// The accepted environment keys; nil accepts any key.
  package var environmentKeys: Set<ByteText>?
  /// The secret with which requests must be hashed; nil accepts any hash or none.
  package var hashSecret: Secret?
  /// The age on arrival from which an event is out of the window.
  package var oldestEvent = Milliseconds(32 * 86_400_000)
  /// The distance into the future, on arrival, from which an event is out of the window.
  package var furthestAhead = Milliseconds(48 * 3_600_000)
  package var largestBody = 5_000_000
  /// The schema that events are checked against; nil for none.
  package var schema: EventSchema?
  package var environment = EventChecker.Environment.live
  /// Engage's responses by `decisionPoint@flavour`, as whole objects. Other requests get a response without parameters.
  package var decisions: [ByteText: JSONNode] = [:]
  /// The maximum number of verdicts listed; the counts include all events.
  package var listedEvents = 10_000
  /// The seed of the ids that are issued.
  package var seed: UInt64 = 1

  package init() {}
}

extension DeltaDNASandboxOptions {
  /// Reads the member named `member` of a fault file (`docs/sandbox.md`).
  package mutating func read(_ file: Fields, _ member: String = "deltadna") {
    guard let fields = file[member]?.object() else { return }
    defer { fields.end() }
    let seconds: ClosedRange<Int64> = 0...10_000_000_000
    func integer(_ key: String, _ range: ClosedRange<Int64>) -> Int64? { fields[key]?.integer(range) }
    if let keys = fields["environmentKeys"]?.elements() {
      environmentKeys = Set(keys.compactMap { $0.anyText().map { ByteText($0) } })
    }
    if let secret = fields["hashSecret"]?.anyText() { hashSecret = Secret(secret) }
    if let number = integer("oldestEventSeconds", seconds) { oldestEvent = Milliseconds(number * 1000) }
    if let number = integer("furthestAheadSeconds", seconds) { furthestAhead = Milliseconds(number * 1000) }
    if let number = integer("largestBody", 1...1 << 30) { largestBody = Int(number) }
    if let number = integer("listedEvents", 0...10_000_000) { listedEvents = Int(number) }
    if let name = fields["environment"]?.choice(["LIVE", "DEV"]) { environment = name == "DEV" ? .development : .live }
    if let given = fields["schema"] {
      do {
        schema = try EventSchema.read(Array(given.node.canonicalText.utf8), name: "schema")
      } catch {
        given.refuse("cannot be used: \(error)")
      }
    }
    for (question, answer) in fields["decisions"]?.entries() ?? [] {
      if answer.object() != nil { decisions[ByteText(question)] = answer.node }
    }
  }
}
