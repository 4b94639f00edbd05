import BatchFoundation
import Glibc
import LoopbackServer
import TestSupport
import Testing

/// What a deltaDNA job makes of answers in an order that is made up for it (reference deltadna 8 and 9).
@Suite("Answers of Collect and Engage") struct GameAnswerTests {
  /// Answers each request as told; behind the end as the last one.
  private final class Script: Sendable {
    enum Answer: Sendable {
      case status(Int)
      /// Taken, and nobody is told.
      case lost
      /// Comes when the test has sent its signal.
      case late
    }

    private let bodies = Guarded<[String]>([])
    private let server: LoopbackServer

    init(_ answers: [Answer]) throws {
      let bodies = bodies
      server = try LoopbackServer { connection in
        while let (_, body) = connection.readRequest() {
          let number = bodies.change { bodies in
            bodies.append(String(decoding: body, as: UTF8.self))
            return bodies.count - 1
          }
          switch answers[min(number, answers.count - 1)] {
          case .status(let status): connection.answer(status, [], #"{"parameters":{"number":\#(number)}}"#)
          case .lost: return connection.reset()
          case .late: connection.sleep(30)
          }
        }
      }
    }

    var address: String { "http://127.0.0.1:\(server.port)/c/api" }
    var requests: [String] { bodies.withLock(\.self) }
    func wait(for count: Int) { bodies.wait { $0.count >= count ? () : nil } }
  }

  private func workspace(
    _ collect: Script, engage: Script? = nil, events: Int, questions: Int = 0
  ) throws -> Workspace {
    let workspace = try Workspace([])
    let decisions = engage.map { #""engageURL":"\#($0.address)","# } ?? ""
    try workspace.write(
      "job.json",
      """
      {"name":"g","destination":"deltadna","inputs":{"events":["in.ndjson"]},"asOf":"2026-01-15T12:00:00Z",
       "store":"s.sqlite","settings":{"DeltaDNA":{"collectURL":"\(collect.address)",\(decisions)
       "environmentKey":"KEY","maxEventsPerRequest":1,"httpRequestMaxTries":0}}}
      """)
    let lines =
      (0..<events).map {
        #"{"eventName":"e\#($0)","userID":"u","eventTimestamp":"2026-01-15 09:00:\#(10 + $0).000","eventUUID":"id-\#($0)","eventParams":{}}"#
      }
      + (0..<questions).map {
        #"{"deviceId":"u","timestamp":"2026-01-15T10:00:\#(10 + $0)Z","type":"engagement","decisionPoint":"p\#($0)"}"#
      }
    try workspace.write("in.ndjson", lines.joined(separator: "\n") + "\n")
    return workspace
  }

  private func counts(_ workspace: Workspace) throws -> [String: Int] {
    let listing = try workspace.run("store", "events", "--store", "s.sqlite")
    #expect(listing.code == 0, "\(listing.messages)")
    let statuses = Set(["SUCCESSFULLY_POSTED", "FAILED_POST", "NOT_POSTED", "UNKNOWN", "EXPIRED"])
    let fields = listing.lines.compactMap { line in
      line.split(separator: "\t").map(String.init).first { statuses.contains($0) }
    }
    return Dictionary(grouping: fields) { $0 }.mapValues(\.count)
  }

  @Test("However many events are refused one after another, those behind them are sent, if Collect ever took any")
  func refusedInARow() throws {
    let collect = try Script([.status(204), .status(204)] + Array(repeating: .status(400), count: 12) + [.status(204)])
    let workspace = try workspace(collect, events: 16)
    let run = try workspace.run("run", "job.json")
    #expect(run.code == 0, "\(run.messages)")
    #expect(try counts(workspace) == ["SUCCESSFULLY_POSTED": 4, "FAILED_POST": 12])
    #expect(collect.requests.count == 16)
  }

  @Test("A Collect that takes nothing at all is not fed any further, and the next run asks it again")
  func refusesAll() throws {
    let collect = try Script([.status(400)])
    let workspace = try workspace(collect, events: 16)
    let run = try workspace.run("run", "job.json")
    #expect(run.code == 69, "\(run.messages)")
    #expect(try counts(workspace) == ["NOT_POSTED": 16])
    #expect(collect.requests.count == 10)
  }

  @Test("What was refused stays refused, however the run ends", arguments: [(401, 77), (302, 76), (500, 69)])
  func refusedForGood(status: Int, code: Int32) throws {
    // A service that fails is asked for another event, too, before it counts as down.
    let failures = Array(repeating: Script.Answer.status(status), count: status == 500 ? 2 : 1)
    let collect = try Script([.status(204), .status(400)] + failures + [.status(204)])
    let workspace = try workspace(collect, events: 4)
    #expect(try workspace.run("run", "job.json").code == code)
    #expect(try counts(workspace) == ["SUCCESSFULLY_POSTED": 1, "FAILED_POST": 1, "NOT_POSTED": 2])
    #expect(try workspace.run("post", "job.json").code == 0)
    #expect(try counts(workspace) == ["SUCCESSFULLY_POSTED": 3, "FAILED_POST": 1])
  }

  @Test("The summary counts the events of earlier runs that --events-out has")
  func backlog() throws {
    let collect = try Script([.status(500), .status(500), .status(204)])
    let workspace = try workspace(collect, events: 3)
    let first = try workspace.run("run", "job.json", "--summary", "-")
    #expect(first.code == 69)
    #expect(try Summary(first.output)["events.total"] == 3)
    let post = try workspace.run("post", "job.json", "--summary", "-", "--events-out", "events.ndjson")
    #expect(post.code == 0, "\(post.messages)")
    let summary = try Summary(post.output)
    #expect(summary["events.total"] == 3 && summary["events.byType.e0"] == 1)
    #expect(try workspace.read("events.ndjson").split(separator: "\n").count == 3)
  }

  @Test("A request that goes out again after its time is in --events-out, because it was posted")
  func repeatedAfterItsTime() throws {
    let collect = try Script([.lost, .status(204)])
    let workspace = try workspace(collect, events: 1)
    #expect(try workspace.run("run", "job.json").code == 69)
    let post = try workspace.run(
      "post", "job.json", "--as-of", "2026-06-01T00:00:00Z", "--events-out", "-")
    #expect(post.code == 0, "\(post.messages)")
    #expect(post.lines.count == 1 && Set(collect.requests).count == 1)
    #expect(try counts(workspace) == ["SUCCESSFULLY_POSTED": 1])
  }

  @Test("A signal does not take away what Engage has answered")
  func signal() throws {
    let collect = try Script([.status(204)])
    let engage = try Script([.status(200), .status(200), .late])
    let workspace = try workspace(collect, engage: engage, events: 0, questions: 5)
    let running = try workspace.start(["run", "job.json", "--decisions-out", "decisions.ndjson"], environment: [:])
    engage.wait(for: 3)
    running.signal(SIGTERM)
    #expect(running.finish().code == 143)
    let words = try workspace.read("decisions.ndjson").split(separator: "\n").map { line in
      line.contains("notAsked") ? "notAsked" : line.contains("noAnswer") ? "noAnswer" : "answered"
    }
    #expect(words == ["answered", "answered", "noAnswer", "notAsked", "notAsked"])
  }

  @Test("Nothing is sent or asked where the decisions cannot be told")
  func unwritable() throws {
    let collect = try Script([.status(204)])
    let engage = try Script([.status(200)])
    let workspace = try workspace(collect, engage: engage, events: 1, questions: 1)
    let run = try workspace.run("run", "job.json", "--decisions-out", "none/decisions.ndjson")
    #expect(run.code == 73, "\(run.messages)")
    #expect(collect.requests == [] && engage.requests == [])
    let again = try workspace.run("run", "job.json", "--decisions-out", "-")
    #expect(again.code == 0 && again.lines.count == 1, "\(again.messages)")
  }

  @Test("Engage's refusal of the key says more than events that are held")
  func deniedWhileHeld() throws {
    let collect = try Script([.lost, .status(204)])
    let engage = try Script([.status(401)])
    let workspace = try workspace(collect, engage: engage, events: 2, questions: 1)
    let run = try workspace.run("run", "job.json", "--set", "Upload.onUnknown=hold")
    #expect(run.code == 77, "\(run.messages)")
    #expect(try counts(workspace)["UNKNOWN"] == 1)
  }

  @Test("A 404 of Engage is told as an address or a key, and not as a refused key alone")
  func unknownEnvironment() throws {
    let collect = try Script([.status(204)])
    let engage = try Script([.status(404)])
    let workspace = try workspace(collect, engage: engage, events: 1, questions: 2)
    let run = try workspace.run("run", "job.json")
    #expect(run.code == 77, "\(run.messages)")
    #expect(
      run.messages.contains(
        "Engage does not know the environment (status 404): DeltaDNA.engageURL or DeltaDNA.environmentKey is wrong"),
      "\(run.messages)")
    #expect(engage.requests.count == 1)
  }

  @Test("A key inside an address is hidden wherever the address is shown")
  func hidden() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      """
      {"name":"g","destination":"deltadna","inputs":{"events":["in.ndjson"]},"asOf":"2026-01-15T12:00:00Z",
       "store":"s.sqlite","reports":"reports","settings":{"DeltaDNA":{"collectURL":"https://a.example/c/CANARY/x",
       "engageURL":"https://b.example/HASHCANARY","environmentKey":"CANARY","hashSecret":"HASHCANARY"}}}
      """)
    try workspace.write("in.ndjson", "")
    var shown = try workspace.run("run", "job.json", "--no-upload").everything
    for command in [
      ["config", "show", "--job", "job.json"], ["config", "explain", "DeltaDNA.collectURL", "--job", "job.json"],
      ["config", "explain", "DeltaDNA.engageURL", "--job", "job.json", "--format", "json"],
      ["store", "status", "--store", "s.sqlite"], ["history", "--store", "s.sqlite"],
      ["run", "job.json", "--set", "DeltaDNA.collectURL=https://c.example/CANARY"],
    ] { shown += try workspace.run(command).everything }
    for name in try workspace.listing().filter({ $0.contains("reports/") }) { shown += name }
    for report in try workspace.reports(in: "reports") { shown += report.canonicalText }
    shown += try workspace.read("s.sqlite")
    #expect(shown.contains("a.example/c/<redacted>/x") && shown.contains("c.example/<redacted>"))
    #expect(!shown.contains("CANARY"))
  }
}

extension Finished {
  fileprivate var everything: String { output + messages }
}
