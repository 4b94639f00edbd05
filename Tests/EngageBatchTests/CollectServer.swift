import BatchFoundation
import LoopbackServer
import TestSupport

/// A Collect of its own, deltaDNA's or Unity's, which keeps what really arrived and has its bad days.
final class CollectServer: Sendable {
  fileprivate struct Ledger {
    var random: SplitMix64
    /// Events as they came first, by user and `eventUUID`.
    var events: [String: String] = [:]
    /// The same by request, in the order in which they came.
    var requests: [[String]] = []
    var repeated = 0
    /// Events that came again with other bytes, and requests that are none.
    var violations: [String] = []
    var faults = 0
  }

  private let ledger: Guarded<Ledger>
  private let server: LoopbackServer

  /// - Parameter trouble: of a hundred requests, so many go wrong.
  init(seed: UInt64 = 1, trouble: Int = 0) throws {
    let ledger = Guarded(Ledger(random: SplitMix64(seed: seed)))
    self.ledger = ledger
    server = try LoopbackServer { connection in
      while let (head, body) = connection.readRequest() {
        guard ledger.withLock({ $0.answer(head, String(decoding: body, as: UTF8.self), trouble, connection) }) else {
          return connection.reset()
        }
      }
    }
  }

  var address: String { "http://127.0.0.1:\(server.port)/collect/api" }
  var events: [String] { requests.flatMap(\.self) }
  var requests: [[String]] { ledger.withLock { $0.requests } }
  var repeated: Int { ledger.withLock { $0.repeated } }
  var violations: [String] { ledger.withLock { $0.violations } }
  var faults: Int { ledger.withLock { $0.faults } }
}

extension CollectServer.Ledger {
  /// - Returns: whether the connection may go on.
  mutating func answer(
    _ head: String, _ body: String, _ trouble: Int, _ connection: LoopbackConnection
  ) -> Bool {
    let isBad = random.below(100) < trouble
    if isBad { faults += 1 }
    switch isBad ? random.below(6) : -1 {
    case 0: connection.answer(500)
    case 1: connection.answer(503, ["Retry-After: 0"])
    case 2: connection.answer(429)
    case 3: return false
    // Taken, and nobody is told.
    case 4:
      take(head, body)
      return false
    case 5:
      take(head, body)
      connection.send("HTTP/1.1 204 No Con")
      return false
    default:
      take(head, body)
      connection.answer(204)
    }
    return true
  }

  private mutating func take(_ head: String, _ body: String) {
    let paths = ["KEY/bulk", "projects/P/environments/production"]
    guard paths.contains(where: { head.hasPrefix("POST /collect/api/\($0) HTTP/1.1\r\n") }),
      body.hasPrefix(#"{"eventList":[{"#),
      body.hasSuffix("}]}")
    else { return violations.append("not a request: \(head.prefix(60))") }
    var new: [String] = []
    let mark = #"},{"eventName":"#
    let pieces = body.dropFirst(14).dropLast(2).split(separator: mark)
    for (number, piece) in pieces.enumerated() {
      let event = (number == 0 ? "" : #"{"eventName":"#) + piece + (number == pieces.count - 1 ? "" : "}")
      let id = "\(Self.text("userID", in: event)) \(Self.text("eventUUID", in: event))"
      if let known = events[id] {
        repeated += 1
        if !known.utf8.elementsEqual(event.utf8) { violations.append("changed: \(event)") }
      } else {
        events[id] = event
        new.append(event)
      }
    }
    requests.append(new)
  }

  private static func text(_ key: String, in event: String) -> String {
    guard let start = event.firstRange(of: "\"\(key)\":\"") else { return "" }
    return String(event[start.upperBound...].prefix { $0 != "\"" })
  }
}
