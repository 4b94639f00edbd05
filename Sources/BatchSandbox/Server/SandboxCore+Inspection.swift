import BatchFoundation
import FoundationEssentials

/// The endpoints below `/sandbox/`, for looking at what happened and for steering.
extension SandboxCore {
  func inspect(_ request: SandboxRequest) -> SandboxReply {
    let items = Dictionary(request.queryItems.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    switch (request.method, request.path) {
    case ("GET", "/sandbox/state"): return .done(.json(200, state))
    case ("GET", "/sandbox/ledger"):
      let since = items["since"].flatMap { Int($0) } ?? 0
      let entries = desk.withLock { $0.ledger.entries.filter { $0.sequence > since } }
      return .done(.json(200, sandboxJSON(entries)))
    case ("POST", "/sandbox/clock"):
      guard let seconds = items["advance"].flatMap({ Int64($0) }), (0...1_000_000_000).contains(seconds) else {
        return .refused(.rest(400, error: "advance=SECONDS is missing"))
      }
      time.advance(by: Milliseconds(seconds * 1000))
      var reply = SandboxReply.done(.json(200, "{\"clock\":\"\(CivilTime(time.now).isoForm)\"}"))
      reply.changesState = true
      return reply
    case ("POST", "/sandbox/expire-tokens"):
      expireTokens()
      return .done(SandboxAnswer(status: 204))
    default: return .refused(.html(404))
    }
  }

  private var state: String {
    var members = [:] as [String: String]
    for platform in platforms { members.merge(platform.inspection()) { _, later in later } }
    // After the platforms, which may move the clock.
    members["clock"] = sandboxJSON(CivilTime(time.now).isoForm)
    let (totals, fired) = desk.withLock { ($0.ledger.totals, $0.faults.fired) }
    members["totals"] = sandboxJSON(totals)
    members["faultsFired"] = sandboxJSON(fired)
    return sandboxJSON(members: members)
  }
}

/// A value as the sandbox shows it: sorted keys, no escapes that JSON does not demand.
package func sandboxJSON(_ value: some Encodable) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  // Every value is plain text and numbers, which always encode.
  return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
}

/// An object whose members are JSON already, sorted by name.
func sandboxJSON(members: [String: String]) -> String {
  let sorted = members.sorted { $0.key < $1.key }.map { "\(JSONString.quoted($0.key)):\($0.value)" }
  return "{\(sorted.joined(separator: ","))}"
}
