import BatchFoundation
import GameRules
import Testing

/// Users, phases, sessions and what becomes of records (reference deltadna 2 to 5).
@Suite struct LifeOfADeviceTests {
  private func line(_ second: Int, _ type: String, _ rest: String = "") -> String {
    #"{"deviceId":"d","timestamp":\#(1_700_000_000 + second),"type":"\#(type)"\#(rest)}"#
  }

  private func run(_ lines: [String], _ change: (inout GameSettings) -> Void = { _ in }) throws -> Replay.Result {
    let replay = Replay(lines)
    change(&replay.settings)
    #expect(replay.rejections == [])
    return try replay.run()
  }

  private let start = ["newPlayer", "gameStarted", "clientDevice"]
  private let again = ["gameStarted", "clientDevice"]

  @Test func `an event without a start opens a session that a launch goes on with`() throws {
    let result = try run([
      line(0, "gameEvent", #","name":"a""#), line(10, "launch"), line(20, "gameEvent", #","name":"b""#),
      line(30, "terminate"),
    ])
    #expect(result.names == start + ["a", "b", "gameEnded"])
    #expect(result.sessionsStarted == 1)
    #expect(result.sessionsEnded == 1)
  }

  @Test func `an open session is over after the timeout, a held one is not`() throws {
    let result = try run([line(0, "gameEvent", #","name":"a""#), line(301, "gameEvent", #","name":"b""#)])
    #expect(result.names == start + ["a"] + again + ["b"])
    let exact = try run([line(0, "gameEvent", #","name":"a""#), line(300, "gameEvent", #","name":"b""#)])
    #expect(exact.names == start + ["a", "b"])
    let held = try run([line(0, "launch"), line(5000, "gameEvent", #","name":"b""#)])
    #expect(held.names == start + ["b"])
    let endless = try run([line(0, "gameEvent", #","name":"a""#), line(90_000, "gameEvent", #","name":"b""#)]) {
      $0.sessionTimeout = .zero
    }
    #expect(endless.names == start + ["a", "b"])
  }

  /// Seconds and types of records, and the lengths of the sessions that are over by the end.
  private static let lengths: [(String, [Int64])] = [
    // Until it is terminated; while it is away it is not in use.
    ("0 launch, 40 terminate", [40]),
    ("0 launch, 40 background, 90 terminate", [40]),
    // Come back in time, and too late; the last one is away for too long by the end.
    ("0 launch, 10 background, 20 foreground, 50 background", [50]),
    ("0 launch, 10 background, 400 foreground, 420 background", [10, 20]),
    // A crash was at the last record before the launch, an event's session at its last event.
    ("0 launch, 7 setUserId, 500 launch, 510 newSession", [7, 10]),
    ("0 gameEvent, 12 gameEvent, 400 gameEvent", [12, 0]),
    // Denial ends it at once.
    ("0 launch, 33 consent", [33]),
    // One that is in use is not over.
    ("0 launch, 9000 gameEvent", []),
  ]

  @Test(arguments: lengths)
  func `each session that is over has a length`(records: String, seconds: [Int64]) throws {
    let more = ["gameEvent": #","name":"a""#, "consent": #","use":false"#, "setUserId": #","userId":"u""#]
    var times: [Int] = []
    let lines = try records.split(separator: ", ").map { record in
      let parts = record.split(separator: " ").map(String.init)
      times.append(try #require(Int(parts[0])))
      return line(times[times.count - 1], parts[1], (more[parts[1]] ?? "") + #","mobileUserId":"u""#)
    }
    #expect(try run(lines).sessionSeconds == seconds)
    // Over several runs each counts once.
    for (before, time) in zip(times, times.dropFirst()) where time - before > 300 {
      let cut = Instant(milliseconds: 1_700_000_000_000 + Int64(time) * 1000)
      #expect(try Replay(lines).run(cuts: [cut]).sessionSeconds == seconds)
    }
  }

  @Test func `a session that may go on has no length yet`() throws {
    let lines = [line(0, "launch"), line(10, "background")]
    let until = { Instant(milliseconds: 1_700_000_010_000 + $0) }
    #expect(try Replay(lines).run(knownUntil: until(300_000)).sessionSeconds == [])
    #expect(try Replay(lines).run(knownUntil: until(300_001)).sessionSeconds == [10])
  }

  @Test func `a crash starts anew without gameEnded`() throws {
    let result = try run([line(0, "launch"), line(10, "launch")])
    #expect(result.names == start + again)
    #expect(result.sessionsEnded == 0)
    #expect(result.sessionsStarted == 2)
  }

  @Test func `newSession makes an id and no events`() throws {
    let result = try run([line(0, "launch"), line(10, "newSession"), line(20, "gameEvent", #","name":"a""#)])
    #expect(result.names == start + ["a"])
    #expect(result.sessionsStarted == 2)
    #expect(try run([line(0, "newSession")]).names == start)
  }

  @Test func `a user who comes back is not new`() throws {
    let result = try run([
      line(0, "gameEvent", #","name":"a","mobileUserId":"one""#), line(1, "setUserId", #","userId":"two""#),
      line(2, "gameEvent", #","name":"b""#), line(3, "setUserId", #","userId":"one""#),
      line(4, "gameEvent", #","name":"c""#),
    ])
    #expect(result.names == start + ["a"] + start + ["b"] + again + ["c"])
  }

  @Test func `the generated user gives way, and the cross-game id goes with it`() throws {
    let result = try run([
      line(0, "crossGameUserId", #","crossGameUserId":"x""#), line(1, "crossGameUserId", #","crossGameUserId":"x""#),
      line(2, "setMobileUserId", #","mobileUserId":"one""#), line(3, "launch"),
    ])
    #expect(result.names == start + ["ddnaRegisterCrossGameUserID"] + start)
    #expect(!result.lines[5].contains("ddnaCrossGameUserID"))
  }

  @Test func `who is forgotten sends nothing more, others do`() throws {
    let result = try run([
      line(0, "launch"), line(1, "forgetMe", #","advertisingId":"ad""#), line(2, "forgetMe"),
      line(3, "gameEvent", #","name":"a""#), line(4, "launch"), line(5, "setUserId", #","userId":"two""#),
      line(6, "gameEvent", #","name":"b""#), line(7, "stopTracking"), line(8, "gameEvent", #","name":"c""#),
      line(9, "forgetMe"),
    ])
    #expect(result.names == start + ["gameEnded", "ddnaForgetMe"] + start + ["b", "gameEnded", "ddnaForgetMe"])
    #expect(result.counts.optedOut == 2)
    let session = { (line: String) in line.components("\"sessionID\":\"").last.map { String($0.prefix(36)) } }
    #expect(session(result.lines[4]) == session(result.lines[0]))
    #expect(result.lines[4].contains(#""ddnaAdvertisingId":"ad""#))
  }

  @Test func `denied consent stops everything but the request to be forgotten`() throws {
    let result = try run([
      line(0, "gameEvent", #","name":"a""#), line(1, "consent", #","use":true,"export":false"#),
      line(2, "gameEvent", #","name":"b""#), line(3, "pushToken", #","token":"T""#), line(4, "forgetMe"),
      line(5, "consent", #","export":true"#), line(6, "setUserId", #","userId":"two""#), line(7, "launch"),
    ])
    #expect(result.names == start + ["a", "ddnaForgetMe"] + start)
    #expect(result.counts.consentDenied == 2)
    #expect(result.lines[6].contains(#""pushNotificationToken":"T""#))
    #expect(result.bodies.count == 3)
  }

  @Test func `clearing forgets user, opt-out and token, but not consent`() throws {
    let result = try run([
      line(0, "launch"), line(1, "forgetMe"), line(2, "clearPersistentData"), line(3, "launch"),
    ])
    #expect(result.names == start + ["gameEnded", "ddnaForgetMe"] + start)
    #expect(result.lines[5].prefix(80) != result.lines[0].prefix(80))
  }

  @Test func `a push token is told when it changes, in lower case where Apple made it`() throws {
    let result = try run([
      line(0, "pushToken", #","token":"00FFA1","device":{"osName":"ios"}"#),
      line(1, "pushToken", #","token":"00ffa1""#),
      line(2, "pushToken", #","token":"""#), line(3, "pushToken", #","token":"00ffa1""#),
    ])
    #expect(result.names == start + ["notificationServices", "notificationServices"])
    #expect(result.lines[3].contains(#""pushNotificationToken":"00ffa1""#))
  }

  @Test func `stored events start nothing and lead the session`() throws {
    let stored =
      #"{"eventName":"s","userID":"d","sessionID":"S","eventTimestamp":"2023-11-14 22:13:20","eventParams":{"a":null,"b":{"c":null,"d":1}}}"#
    let result = try run([
      stored, line(1, "gameEvent", #","name":"a""#),
      #"{"eventName":"t","userID":"d","eventTimestamp":1700000002,"eventParams":{"sdkVersion":"x"}}"#,
    ])
    #expect(result.names == ["s", "a", "t"])
    #expect(result.lines.allSatisfy { $0.contains(#""sessionID":"S""#) })
    #expect(
      result.lines[0].hasSuffix(#""eventParams":{"b":{"d":1},"platform":"UNKNOWN","sdkVersion":"engage-batch"}}"#))
    #expect(result.lines[2].hasSuffix(#""eventParams":{"platform":"UNKNOWN","sdkVersion":"x"}}"#))
    #expect(result.sessionsStarted == 0)
  }

  @Test func `two stored events with one eventUUID are one`() throws {
    let replay = Replay([
      #"{"eventName":"s","userID":"d","eventUUID":"AbC","eventTimestamp":1700000000,"eventParams":{}}"#,
      #"{"eventName":"t","userID":"d","eventUUID":"aBc","eventTimestamp":1700000005,"eventParams":{}}"#,
      #"{"eventName":"s","userID":"e","eventUUID":"AbC","eventTimestamp":1700000000,"eventParams":{}}"#,
    ])
    #expect(replay.duplicates == 1)
    #expect(try replay.run().lines.count == 2)
  }

  @Test func `members with null are dropped, and platform wins`() throws {
    let result = try run([
      line(
        0, "gameEvent",
        #","name":"a","params":{"z":{"y":null,"x":[null,{"w":null,"a":1,"B":2}]},"platform":"P","é":1,"e":""}"#)
    ])
    #expect(
      result.lines[3].hasSuffix(
        #""eventParams":{"e":"","z":{"x":[null,{"B":2,"a":1}]},"é":1,"platform":"UNKNOWN","sdkVersion":"engage-batch"}}"#
      ))
  }

  @Test("A line of any size has the memory that its parts need", arguments: [100, 140_000, 1_500_000, 3_000_000, 200])
  func longLines(_ size: Int) throws {
    let receipt = String(repeating: "r", count: size)
    let result = try run([
      line(
        0, "transaction",
        #","name":"n","transactionType":"PURCHASE","received":{},"spent":{},"transactionReceipt":"\#(receipt)""#),
      line(1, "transaction", #","name":"n","transactionType":"PURCHASE","received":{},"spent":{}"#),
    ])
    let receipts = result.lines.filter { $0.contains(#""transactionReceipt":"\#(receipt)""#) }
    #expect(receipts.count == 1 && result.events.filter { $0.name == "transaction" }.count == 2)
  }

  @Test(arguments: [
    (#""type":"gameEvent","name":"""#, "missing-field"), (#""type":"gameEvent","name":5"#, "wrong-type"),
    (#""type":"pushToken""#, "missing-field"), (#""type":"consent""#, "missing-field"),
    (#""type":"consent","use":1"#, "wrong-type"), (#""type":"imageMessageAction","imActionName":"a""#, "missing-field"),
    (#""type":"whatever""#, "unknown-type"),
    (#""type":"engagement","decisionPoint":"d","flavour":"""#, "missing-field"),
    (#""type":"setUserId","mobileUserId":"m""#, "missing-field"),
    (
      #""type":"transaction","name":"n","transactionType":"t","received":{},"spent":{"realCurrency":{"type":"USD"}}"#,
      "missing-field"
    ),
    (
      #""type":"transaction","name":"n","transactionType":"t","received":{},"spent":{"realCurrency":{"type":"USD","amount":1,"value":1}}"#,
      "wrong-type"
    ),
    (
      #""type":"transaction","name":"n","transactionType":"t","received":{},"spent":{"realCurrency":{"type":"USD","amount":1.0}}"#,
      "wrong-type"
    ),
    (#""type":"transaction","name":"n","transactionType":"t","received":{"items":[5]},"spent":{}"#, "wrong-type"),
    (
      #""type":"transaction","name":"n","transactionType":"t","received":{},"spent":{"realCurrency":{"type":"USD","value":"1e999"}}"#,
      "wrong-type"
    ),
  ])
  func `a line with a fault is refused with its reason`(fields: String, reason: String) {
    #expect(Replay(["{\"deviceId\":\"d\",\"timestamp\":1700000000,\(fields)}"]).rejections == [reason])
  }
}

extension String {
  fileprivate func components(_ separator: String) -> [Substring] {
    var rest = self[...]
    var parts: [Substring] = []
    while let index = rest.indices.first(where: { rest[$0...].hasPrefix(separator) }) {
      parts.append(rest[..<index])
      rest = rest[rest.index(index, offsetBy: separator.count)...]
    }
    return parts + [rest]
  }
}
