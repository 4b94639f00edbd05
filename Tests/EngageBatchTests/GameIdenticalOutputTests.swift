import BatchFoundation
import TestSupport
import Testing

/// Jobs of games give the same bytes too, whatever machine and settings they meet.
@Suite("Identical output of games") struct GameIdenticalOutputTests {
  static let job = """
    {"name": "same", "destination": "deltadna", "inputs": {"events": ["in"]}, "asOf": "2026-01-18T00:00:00Z",
     "settings": {"DeltaDNA": {"eventSchema": "schema.json", "sessionConfiguration": "configuration.json"}}}
    """

  static let schema = """
    {"events": [{"name": "newPlayer"}, {"name": "gameStarted"}, {"name": "gameEnded"}, {"name": "stored"},
      {"name": "ddnaEventTriggeredAction"}, {"name": "levelUp", "parameters": [{"name": "level", "type": "INTEGER"}]}]}
    """

  static let configuration = """
    {"parameters": {"triggers": [{"eventName": "levelUp", "campaignID": 1, "variantID": 1, "limit": 2,
      "campaignExecutionConfig": {"showConditions": [{"executionsRepeat": 2}]}}]}}
    """

  struct Line {
    var time: Int64
    var text: String
  }

  private static let start: Int64 = 1_768_435_200_000

  /// - Parameter padding: bytes that lines carry for nothing.
  static func lines(_ seed: UInt64, devices: Int, perDevice: Int, padding: Int = 0) -> [Line] {
    var random = SplitMix64(seed: seed)
    let filler = padding > 0 ? #","pad":"\#(String(repeating: "p", count: padding))""# : ""
    var lines: [Line] = []
    for number in 0..<devices * perDevice {
      let device = "d-\(random.below(devices))"
      // Lines of one instant would change places with their line numbers, so no two have the same.
      let time = start + Int64(random.below(40_000)) * 2000 + Int64(number % 2000)
      let rest = [
        #""type":"launch","device":{"osName":"iOS","country":"GB"}"#, #""type":"background""#, #""type":"terminate""#,
        #""type":"gameEvent","name":"levelUp","params":{"level":\#(number)}"#,
        #""type":"gameEvent","name":"levelUp","params":{"level":"\#(number)"}"#,
        #""type":"gameEvent","name":"levelUp""#, #""type":"consent","use":true"#,
        #""type":"setUserId","userId":"\#(device)-\#(random.below(3))""#, #""type":"engagement","decisionPoint":"d""#,
      ][random.below(9)]
      lines.append(
        Line(
          time: time,
          text: number % 11 == 0
            ? #"{"eventName":"stored","userID":"\#(device)","eventTimestamp":\#(time),"eventParams":{"n":\#(number)}}"#
            : #"{"deviceId":"\#(device)","timestamp":\#(time),"recordId":\#(number)\#(filler),\#(rest)}"#))
    }
    return lines
  }

  private func write(_ lines: [Line], to workspace: Workspace, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var order = lines
    for index in order.indices.reversed() { order.swapAt(index, random.below(index + 1)) }
    let count = random.below(4) + 1
    for file in 0..<count {
      let part = order.enumerated().filter { $0.offset % count == file }.map(\.element.text)
      try workspace.write("in/\(file).ndjson", part.joined(separator: "\n"))
    }
  }

  private func workspace() throws -> Workspace {
    let workspace = try Workspace([])
    try workspace.write("job.json", Self.job)
    try workspace.write("schema.json", Self.schema)
    try workspace.write("configuration.json", Self.configuration)
    return workspace
  }

  static let variants: [(name: String, settings: [String], environment: [String: String])] = [
    ("time zone", [], ["TZ": "Asia/Kolkata"]),
    ("locale", [], ["LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"]),
    ("one event a request", ["DeltaDNA.maxEventsPerRequest=1"], [:]),
    ("small requests", ["DeltaDNA.maxBytesPerRequest=3000"], ["TZ": "America/St_Johns"]),
    ("little memory", ["Ingest.memoryLimit=1 MiB"], [:]), ("seven threads", ["Ingest.workers=7"], [:]),
  ]

  @Test("Time zone, locale, chunks, memory, order of lines and files change no byte of events and findings")
  func changesNothing() throws {
    let lines = Self.lines(5, devices: 40, perDevice: 40)
    let workspace = try workspace()
    func run(_ seed: UInt64, _ arguments: [String], _ environment: [String: String]) throws -> (String, String) {
      try write(lines, to: workspace, seed: seed)
      let run = try workspace.run(
        ["run", "job.json", "--store", "s.sqlite", "--events-out", "events", "--findings-out", "findings"] + arguments,
        environment: environment)
      #expect(run.code == 0, "\(run.messages)")
      defer { try? workspace.remove("in") }
      return (try workspace.read("events"), try workspace.read("findings"))
    }
    let (events, findings) = try run(1, ["--dry-run"], [:])
    #expect(events.split(separator: "\n").count > 1000)
    #expect(findings.split(separator: "\n").count > 100)
    for (number, variant) in Self.variants.enumerated() {
      let settings = variant.settings.flatMap { ["--set", $0] }
      let found = try run(UInt64(number) + 2, ["--no-upload"] + settings, variant.environment)
      #expect(found.0 == events, "\(variant.name)")
      #expect(found.1 == findings, "\(variant.name)")
      try workspace.remove("s.sqlite")
    }
  }

  @Test("Runs over parts of an export, in order of time, give together what one run gives")
  func parts() throws {
    let lines = Self.lines(6, devices: 20, perDevice: 40).sorted { $0.time < $1.time }
    let workspace = try workspace()
    try write(lines, to: workspace, seed: 1)
    let expected = try workspace.run("run", "job.json", "--dry-run", "--events-out", "-")
    var found: [String] = []
    for part in 0..<4 {
      try workspace.remove("in")
      try write(
        Array(lines[part * lines.count / 4..<(part + 1) * lines.count / 4]), to: workspace, seed: UInt64(part))
      let run = try workspace.run("run", "job.json", "--no-upload", "--store", "s.sqlite", "--events-out", "-")
      #expect(run.code == 0, "\(run.messages)")
      found += run.lines
    }
    #expect(found.sortedByBytes == expected.lines.sortedByBytes)
  }

  @Test(
    "Requests of an input that is decided in many stretches come in the order of their first events, and each player's in theirs"
  )
  func order() throws {
    // More than what is decided in one piece, on several threads.
    let workspace = try workspace()
    try write(Self.lines(7, devices: 300, perDevice: 60, padding: 500), to: workspace, seed: 3)
    let service = try CollectServer()
    let run = try workspace.run(
      "run", "job.json", "--store", "s.sqlite", "--events-out", "events", "--set",
      "DeltaDNA.maxEventsPerRequest=500", "--set", "DeltaDNA.collectURL=\(service.address)", "--set",
      "DeltaDNA.environmentKey=KEY")
    #expect(run.code == 0, "\(run.messages)")
    #expect(service.violations == [])
    let sent = service.requests.flatMap(\.self)
    #expect(sent.count > 5000)
    let firsts = service.requests.compactMap(\.first).map(Self.time)
    #expect(firsts == firsts.sorted())
    let expected = try workspace.read("events").split(separator: "\n").map(String.init)
    #expect(sent.sortedByBytes == expected.sortedByBytes)
    let players = Dictionary(grouping: sent, by: Self.player)
    #expect(players.count > 100)
    #expect(players == Dictionary(grouping: expected, by: Self.player))
  }

  private static func time(_ event: String) -> String { text("eventTimestamp", event) }
  private static func player(_ event: String) -> String { text("userID", event) }

  private static func text(_ key: String, _ event: String) -> String {
    event.split(separator: "\"\(key)\":\"", maxSplits: 1).last.map { String($0.prefix { $0 != "\"" }) } ?? ""
  }
}
