import BatchFoundation
import LoopbackServer
import TestSupport

/// An Engage of its own, which keeps each question that it saw and has its bad days.
final class DecisionServer: Sendable {
  private struct Ledger {
    var random: SplitMix64
    var questions: [String] = []
    var faults = 0
  }

  private let ledger: Guarded<Ledger>
  private let server: LoopbackServer

  /// - Parameter trouble: of a hundred questions, so many are not answered well.
  init(seed: UInt64 = 1, trouble: Int = 0) throws {
    let ledger = Guarded(Ledger(random: SplitMix64(seed: seed)))
    self.ledger = ledger
    server = try LoopbackServer { connection in
      while let (_, body) = connection.readRequest() {
        let fault = ledger.withLock { ledger -> Int? in
          ledger.questions.append(String(decoding: body, as: UTF8.self))
          guard ledger.random.below(100) < trouble else { return nil }
          ledger.faults += 1
          return ledger.random.below(4)
        }
        switch fault {
        case 0: connection.answer(503)
        case 1: connection.answer(400)
        case 2: return connection.reset()
        case 3:
          connection.send("HTTP/1.1 200 O")
          return connection.reset()
        default: connection.answer(200, [], #"{"transactionID":1,"parameters":{"gift":"gold"}}"#)
        }
      }
    }
  }

  var address: String { "http://127.0.0.1:\(server.port)/engage/api" }
  var questions: [String] { ledger.withLock { $0.questions } }
  var faults: Int { ledger.withLock { $0.faults } }
}
