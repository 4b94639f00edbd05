import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// What the system refuses ends a run in words, and the next run makes good: a disk that is full at one write or from one on, no
/// descriptors, a mount that is lost.
///
/// `ENGAGE_EVERY_CALL=1` refuses each call in turn, which takes half an hour; else a few.
@Suite("Calls that the system refuses") struct RefusedCallTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    var name: String
    var calls: String
    var error: String
    /// Also every call that follows.
    var lasts = false
    var testDescription: String { name }
  }

  static let refusals = [
    Refusal(name: "a write finds the disk full", calls: "write,pwrite64,writev,ftruncate,fallocate", error: "ENOSPC"),
    Refusal(
      name: "the disk is full from one write on", calls: "pwrite64,writev,ftruncate,fallocate", error: "ENOSPC",
      lasts: true),
    Refusal(name: "nothing can be opened for once", calls: "openat,socket", error: "EMFILE"),
    // The first one, for signals, ended the run with 1.
    Refusal(name: "no thread is given", calls: "clone3", error: "EAGAIN", lasts: true),
    Refusal(name: "a read fails", calls: "openat,read,pread64", error: "EIO"),
    Refusal(
      name: "the mount is gone", calls: "fsync,fdatasync,rename,renameat2,link,mkdir,unlink,pwrite64,pread64",
      error: "EIO", lasts: true),
  ]

  private static let isWhole = ProcessInfo.processInfo.environment["ENGAGE_EVERY_CALL"] == "1"
  private static let codes: Set<Int32> = [0, 66, 69, 73, 74, 78]

  @Test("A run ends in words, and the next one makes good", arguments: refusals)
  func run(refusal: Refusal) throws {
    let (first, firstService) = (try Workspace(), try Service())
    let whole = try Self.run(first, firstService, ["-e", "trace=openat,\(refusal.calls)"])
    #expect(whole.code == 0, "\(whole.messages)")
    let places = try Self.places(first.read("trace"), refusal)
    var random = SplitMix64(seed: 14)
    let chosen = Self.isWhole ? places : Array(places.shuffled(using: &random).prefix(1))
    var codes: [Int32: Int] = [:]
    // Threads share their work in another way in each run, so that some have no such call.
    var met = 0
    for place in chosen {
      let (workspace, service) = (try Workspace(), try Service())
      let refused = try Self.run(workspace, service, place.flatMap { ["-e", $0] })
      let comment = "\(refusal.name), \(place): \(refused)"
      if try workspace.read("trace").contains("(INJECTED)") { met += 1 }
      codes[refused.code, default: 0] += 1
      #expect(Self.codes.contains(refused.code), "\(comment)")
      if refused.code == 0 {
        // Nothing that was asked for is lost.
        #expect(try workspace.read("events") == first.read("events"), "\(comment)")
        #expect(service.events == firstService.events, "\(comment)")
        #expect(try workspace.reports(in: "reports").count == 1, "\(comment)")
        for name in ["metrics", "junit"] { #expect(workspace.exists(name), "\(name): \(comment)") }
      } else if !refusal.calls.hasPrefix("write,") {
        // Else it may be the words that could not be written.
        #expect(refused.messages.contains("error: "), "\(comment)")
      }
      let next = try workspace.run("run", "jobs/nightly.json", "--summary", "-", environment: service.environment)
      #expect(next.code == 0, "\(next)\n\(comment)")
      #expect(try Summary(next.output)["store.SUCCESSFULLY_POSTED"] == 37, "\(next)\n\(comment)")
      // Where the answer was what could not be stored, they are sent again.
      #expect(
        Self.renumbered(service.events) == Self.renumbered(firstService.events), "\(next)\n\(comment)")
      #expect(try workspace.run("store", "check", "--store", "var/nightly.sqlite").code == 0, "\(comment)")
    }
    #expect(!Self.isWhole || met > places.count / 2)
    print(
      "\(refusal.name): \(met) of \(places.count) calls refused, exit codes \(codes.sorted { $0.key < $1.key })"
    )
  }

  /// The thread of the sandbox ended the process with a trap, and a store or a sandbox that was closed waited for ever for a thread.
  @Test(
    "A run without threads ends in words, and what looks at a store needs none",
    arguments: [
      ("run jobs/nightly.json --sandbox", 1), ("run jobs/nightly.json --sandbox", 2),
      ("run jobs/nightly.json --sandbox", 4), ("run jobs/nightly.json --no-upload", 1),
      ("run jobs/nightly.json --no-upload", 2), ("store status --store var/other.sqlite", 1),
    ])
  func threads(line: String, first: Int) throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload", "--store", "var/other.sqlite").code == 0)
    let refused = try workspace.start(
      program: "/usr/bin/strace",
      [
        "-f", "-qq", "-o", "trace", "-e", "trace=clone3", "-e", "inject=clone3:error=EAGAIN:when=\(first)+",
        Checkout.binary,
      ] + line.split(separator: " ").map(String.init)
    ).finishWithinAMinute()
    if refused.code != 0 {
      #expect(refused.code == 74, "\(refused)")
      #expect(refused.messages.contains("error: the system refused to create another thread"), "\(refused)")
    }
    #expect(line.hasPrefix("run") || refused.code == 0, "\(refused)")
    #expect(try workspace.run(line.split(separator: " ").map(String.init)).code == 0)
  }

  private static func run(_ workspace: Workspace, _ service: Service, _ options: [String]) throws -> Finished {
    try workspace.start(
      program: "/usr/bin/strace",
      ["-f", "-qq", "--seccomp-bpf", "-o", "trace"] + options + [
        Checkout.binary, "run", "jobs/nightly.json", "--report", "reports", "--metrics", "metrics", "--junit", "junit",
        "--events-out", "events",
      ], environment: service.environment
    ).finishWithinAMinute()
  }

  /// The events, in which a recipient has the number of its first event: the service's goes by the order of what is asked of it, which
  /// another run may ask in another order.
  private static func renumbered(_ events: [String]) -> Set<String> {
    let mark = #""Recipient Id","value":""#
    var numbers: [Substring: Int] = [:]
    let parts = Set(events).map { event in
      let ends = event.split(separator: mark, maxSplits: 1)
      let rest = ends.last?.drop { $0 != "\"" } ?? ""
      return (other: "\(ends[0])\(mark)\(rest)", recipient: ends.last?.prefix { $0 != "\"" } ?? "")
    }
    return Set(
      parts.sorted { $0.other < $1.other }.map { part in
        let number = numbers[part.recipient] ?? numbers.count
        numbers[part.recipient] = number
        return "\(number) \(part.other)"
      })
  }

  /// What refuses each of the calls that the program makes itself, which are those after the loader's, in the words of strace.
  ///
  /// strace counts calls of each name by thread. One of another thread that has the number of a call of the loader is left out.
  private static func places(_ trace: String, _ refusal: Refusal) -> [[String]] {
    let names = refusal.calls.split(separator: ",")
    var counts: [Substring: [Substring: Int]] = [:]
    var loader: [Substring: Int]?
    var places: [[String]] = []
    for line in trace.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      guard parts.count == 2 else { continue }
      if loader == nil, parts[1].contains("jobs/nightly.json") { loader = counts[parts[0], default: [:]] }
      guard let name = parts[1].split(whereSeparator: { "( ".contains($0) }).first, names.contains(name) else {
        continue
      }
      counts[parts[0], default: [:]][name, default: 0] += 1
      guard let loader, let counts = counts[parts[0]], counts[name, default: 0] > loader[name, default: 0] else {
        continue
      }
      // What lasts begins with this call, and with the next one of every other name.
      let place = (refusal.lasts ? names : [name]).map { other in
        let number =
          other == name ? counts[name, default: 0] : max(counts[other, default: 0], loader[other, default: 0]) + 1
        return "inject=\(other):error=\(refusal.error):when=\(number)\(refusal.lasts ? "+" : "")"
      }
      if !places.contains(place) { places.append(place) }
    }
    return places
  }
}
