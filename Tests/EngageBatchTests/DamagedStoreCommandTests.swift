import BatchFoundation
import FoundationEssentials
import Glibc
import StoreSupport
import TestSupport
import Testing

/// A damaged store brings no command down, lets none go on for ever, and makes none tell what it holds.
///
/// `ENGAGE_EVERY_BYTE=1` has every command meet every column and a bit of every page of 512 bytes, which takes 22 minutes; else
/// each meets one of both in all, of the second job every other one. `DamagedStoreTests` does it with every byte to all that reads a store, without a process for each.
@Suite("Commands on damaged stores") struct DamagedStoreCommandTests {
  /// A job that ran, whose store is damaged.
  struct Subject: Sendable, CustomTestStringConvertible {
    var name: String
    var device: String
    /// What ran.
    var lines: [String]
    /// How commands end on the store as it is, other than with 0.
    var codes: [String: Int32]
    var testDescription: String { name }

    var job: String { "jobs/\(name).json" }
    /// The store of the job, and the one that it has for the sandbox.
    var stores: [String] { ["var/\(name).sqlite", "var/\(name).sandbox.sqlite"] }
    /// What the sandbox knows.
    var state: String { "var/\(name).sandbox.json" }
  }

  /// One whose events were posted, and one whose events wait.
  static let subjects = [
    Subject(
      name: "nightly", device: "A1F0C9D2-0001", lines: ["run JOB --sandbox", "forget JOB --device nobody --sandbox"],
      codes: ["validate": 65, "post": 78, "collect": 78, "identity abandon": 64]),
    Subject(
      name: "game", device: "phone-1", lines: ["run JOB --no-upload", "forget JOB --device nobody"],
      codes: [
        "post": 69, "collect": 78, "quarantine resolve": 66, "verify": 65, "identity abandon": 78,
        "identity export": 78,
        "identity list": 78, "identity renew": 78, "identity resume": 78, "identity show": 78, "identity undo": 78,
      ]),
  ]

  /// What is asked of each command that opens a store.
  private static let lines = [
    "backfill": "backfill JOB --from 2026-01-15T00:00:00Z --to 2026-01-15T23:59:59Z --step PT12H --sandbox",
    "rerun": "rerun JOB --from 2026-01-15T00:00:00Z --to 2026-01-15T23:59:59Z --send-again all --sandbox",
    "run": "run JOB --sandbox --events-out events.ndjson --report again --explain DEVICE",
    "validate": "validate JOB",
    "compare": "compare JOB --with Session.sessionLifecycleExpiration=10minutes",
    "post": "post JOB --store STORE --set DeltaDNA.httpRequestMaxTries=0",
    "verify": "verify JOB --sandbox",
    "partition": "partition JOB --parts 1 --out partition",
    "decide": "decide JOB --partition part --part 0 --out result",
    "collect": "collect JOB decided --store STORE",
    "history": "history --store STORE",
    "report": "report --store STORE --report again",
    "why": "why --store STORE --device DEVICE --at 2026-01-15T09:00:00Z",
    "store status": "store status --store STORE",
    "store events": "store events --store STORE --format json",
    "store sessions": "store sessions --store STORE",
    "store campaigns": "store campaigns --store STORE",
    "store requeue": "store requeue --store STORE --status UNKNOWN",
    "store purge": "store purge --store STORE --days 0 --shrink",
    "store backup": "store backup copy.sqlite --store STORE",
    "store rebind": "store rebind --store STORE --job JOB --set Connection.baseUrl=https://other.example",
    "store check": "store check --store STORE",
    "store drop-partition": "store drop-partition --store STORE",
    "store salvage": "store salvage --store STORE --to saved.sqlite",
    "store corrections": "store corrections --store STORE",
    "store erasures": "store erasures --store STORE",
    "person export": "person export DEVICE --store STORE --out person.ndjson",
    "forget": "forget JOB --device DEVICE --sandbox",
    "quarantine list": "quarantine list --store STORE --all",
    "quarantine replay": "quarantine replay --job JOB --store STORE",
    "quarantine resolve": "quarantine resolve --store STORE --reason invalid-json",
    "identity list": "identity list --store STORE",
    "identity show": "identity show 1 --store STORE",
    "identity resume": "identity resume --store STORE --job JOB --sandbox",
    "identity undo": "identity undo 1 --store STORE --job JOB --sandbox",
    "identity abandon": "identity abandon 1 --store STORE",
    "identity renew": "identity renew 900000000101 --store STORE",
    "identity export": "identity export --store STORE",
    "doctor": "doctor --job JOB --sandbox",
    "service prepare": "service prepare JOB --sandbox --dry-run",
  ]

  /// Those that open none.
  private static let others: Set = [
    "init", "test", "store restore", "config show", "config explain", "config check", "config schema", "expiration",
    "explain", "link",
    "identity link", "sandbox", "xmlapi", "map show", "map try", "stream", "schema", "engage schema check",
    "engage schema infer", "deltadna schema check",
    "deltadna schema infer",
    "deltadna triggers explain", "help",
  ]

  /// A verb that is added has to say whether it opens a store.
  @Test("Every command is known to open a store, or none")
  func everyCommand() throws {
    let help = try JSONNode.parse(Array(Workspace([]).run("--experimental-dump-help").output.utf8))
    func leaves(_ command: JSONNode, _ words: [String]) -> [String] {
      let subcommands = (command["subcommands"]?.array ?? []).filter { $0["shouldDisplay"]?.bool != false }
      let named = subcommands.filter { words.isEmpty || $0["commandName"]?.string != "help" }
      if named.isEmpty { return [words.joined(separator: " ")] }
      return named.flatMap { leaves($0, words + [$0["commandName"]?.string ?? ""]) }
    }
    let all = Set(leaves(try #require(help["command"]), []))
    #expect(all == Self.others.union(Self.lines.keys))
    #expect(Self.others.isDisjoint(with: Self.lines.keys))
  }

  @Test("Every command ends in words", arguments: subjects)
  func endsInWords(subject: Subject) throws {
    let bench = try Bench(subject)
    let isWhole = ProcessInfo.processInfo.environment["ENGAGE_EVERY_BYTE"] == "1"
    var random = SplitMix64(seed: 14)
    var codes: [Int32: Int] = [:]
    let isFirst = subject.name == Self.subjects[0].name
    for (number, command) in Self.lines.keys.sorted().enumerated() where isWhole || isFirst || number % 2 == 1 {
      let line = try #require(Self.lines[command])
      let finished = try bench.expectWords(line, damage: nil)
      #expect(finished.code == subject.codes[command, default: 0], "\(line): \(finished)")
      let isByte = isFirst ? number % 2 == 0 : number % 4 == 1
      let columns = isWhole ? bench.columns : isByte ? [] : [bench.columns[random.below(bench.columns.count)]]
      let pages = bench.whole.count / DamagedStore.pageSize
      for (place, column) in columns.enumerated() {
        let value = DamagedStore.values[(number + place) % DamagedStore.values.count]
        codes[try bench.expectWords(line, damage: .column(column, value)).code, default: 0] += 1
      }
      for page in isWhole ? Array(0..<pages) : isByte ? [random.below(pages)] : [] {
        let place = page * DamagedStore.pageSize + random.below(DamagedStore.pageSize)
        codes[try bench.expectWords(line, damage: .byte(place, bit: random.below(8))).code, default: 0] += 1
      }
    }
    print("Commands on damaged stores of \(subject.name), by exit code: \(codes.sorted { $0.key < $1.key })")
  }

  @Test("A damaged result of a part is refused by what reads it")
  func results() throws {
    let bench = try Bench(Self.subjects[0])
    let store = "decided/store.sqlite"
    let whole = Array(try Data(contentsOf: URL(filePath: "\(bench.workspace.path)/\(store)")))
    for place in stride(from: 50, to: whole.count, by: whole.count / 7) {
      var bytes = whole
      bytes[place] ^= 16
      try bench.workspace.write(store, bytes)
      for line in [
        "collect JOB decided --store new.sqlite",
        "decide JOB --partition next --part 0 --state-in decided --out result",
        "forget JOB --device DEVICE --result decided --sandbox",
      ] {
        let finished = try bench.run(line)
        #expect([74, 78].contains(finished.code), "byte \(place), \(line): \(finished)")
      }
    }
  }
}

extension DamagedStoreCommandTests {
  enum Damage: CustomStringConvertible {
    case column(StoreColumn, String)
    case byte(Int, bit: Int)

    var description: String {
      switch self {
      case .column(let column, let value): "\(column) = \(value)"
      case .byte(let place, let bit): "bit \(bit) of byte \(place)"
      }
    }
  }

  /// A folder with a store that a run and an operator filled.
  final class Bench {
    let workspace: Workspace
    let subject: Subject
    let whole: [UInt8]
    let columns: [StoreColumn]
    private let state: String?
    /// What was recorded and must not be told.
    private let personal: Set<String>

    private static let codes = Set(RunExit.allCases.map(\.rawValue)).subtracting([130, 143])

    init(_ subject: Subject) throws {
      self.subject = subject
      let workspace = try Workspace()
      self.workspace = workspace
      var given: Set<String> = []
      for folder in ["events", "notifications", "deep-links", "game"] {
        for name in try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/samples/\(folder)") {
          for line in try workspace.read("samples/\(folder)/\(name)").split(separator: "\n") {
            if let record = try? JSONNode.parse(Array(line.utf8)) { Self.collect(record, &given) }
          }
        }
      }
      personal = given
      // Nobody listens at that port.
      for name in ["DELTADNA_COLLECT_URL", "DELTADNA_ENGAGE_URL"] {
        workspace.environment[name] = "http://127.0.0.1:1"
      }
      for name in ["ENGAGE_CLIENT_ID", "ENGAGE_SECRET", "ENGAGE_REFRESH_TOKEN", "DELTADNA_ENVIRONMENT_KEY"] {
        workspace.environment[name] = "key"
      }
      for line in subject.lines + [
        "partition JOB --parts 1 --out part", "decide JOB --partition part --part 0 --out decided",
        "partition JOB --parts 1 --after part --out next",
      ] {
        let finished = try workspace.run(Self.words(line, subject))
        #expect(finished.code == 0, "\(line): \(finished)")
      }
      let made = try #require(subject.stores.first { workspace.exists($0) })
      let path = "\(workspace.path)/\(made)"
      try DamagedStore.shrink(path)
      whole = Array(try Data(contentsOf: URL(filePath: path)))
      // A run without the sandbox leaves none.
      state = workspace.exists(subject.state) ? try workspace.read(subject.state) : nil
      columns = try DamagedStore.columns(of: path)
    }

    /// Texts that say who somebody is.
    private static func collect(_ record: JSONNode, _ values: inout Set<String>) {
      for member in record.members ?? [] {
        let isPersonal = [
          "deviceId", "mobileUserId", "recipientId", "anonymousId", "ids", "crossGameUserId", "userID", "token",
        ].contains(member.key)
        let texts = (member.value.members?.map(\.value) ?? [member.value]).compactMap(\.string)
        if isPersonal { values.formUnion(texts.filter { $0.utf8.count >= 7 }) }
      }
    }

    private static func words(_ line: String, _ subject: Subject) -> [String] {
      line.split(separator: " ").map {
        String($0).replacing("JOB", with: subject.job).replacing("STORE", with: subject.stores[0])
          .replacing("DEVICE", with: subject.device)
      }
    }

    func run(_ line: String) throws -> Finished {
      try workspace.start(Self.words(line, subject)).finishWithinAMinute()
    }

    /// - Parameter damage: nil leaves the store as it is.
    func expectWords(_ line: String, damage: Damage?) throws -> Finished {
      for name in try FileManager.default.contentsOfDirectory(atPath: "\(workspace.path)/var") {
        try workspace.remove("var/\(name)")
      }
      for name in ["again", "partition", "result", "saved.sqlite", "events.ndjson"] where workspace.exists(name) {
        try workspace.remove(name)
      }
      if let state { try workspace.write(subject.state, state) }
      var bytes = whole
      if case .byte(let place, let bit) = damage { bytes[place] ^= UInt8(1 << bit) }
      let path = try workspace.write(subject.stores[0], bytes)
      // Where the table's key does not take the value, the store stays as it is.
      if case .column(let column, let value) = damage { _ = try DamagedStore.set(column, to: value, in: path) }
      try FileManager.default.copyItem(atPath: path, toPath: "\(workspace.path)/\(subject.stores[1])")
      let finished = try run(line)
      let place = "\(line), \(damage.map { "\($0)" } ?? "no damage"): \(finished.code)\n\(finished.messages)"
      #expect(Self.codes.contains(finished.code), "\(place)")
      #expect(!finished.messages.contains("Fatal error"), "\(place)")
      for value in personal where !line.contains("DEVICE") || value != subject.device {
        #expect(!finished.messages.contains(value), "\(value) in \(place)")
      }
      return finished
    }
  }
}
