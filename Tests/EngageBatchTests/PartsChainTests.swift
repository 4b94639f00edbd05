import TestSupport
import Testing

/// What the commands of a run in parts say and refuse where a chain would break, and what files they read (reference formats 5).
@Suite("Chains of parts") struct PartsChainTests {
  private struct Command {
    let workspace: Workspace

    @discardableResult
    func callAsFunction(_ code: Int32, _ words: String, _ line: String) throws -> String {
      let finished = try workspace.shell("engage-batch \(line)")
      #expect(finished.code == code, "\(line): \(finished.messages)")
      #expect(finished.messages.contains(words), "\(line): \(finished.messages)")
      return finished.messages + finished.output
    }
  }

  @Test("The sample job in 2 parts, then in 3: its 37 events are sent once")
  func sentOnce() throws {
    let workspace = try Workspace()
    let command = Command(workspace: workspace)
    for (parts, words) in [(2, ""), (3, "are already in the store; nothing was added")] {
      try command(0, "", "partition jobs/backfill.json --parts \(parts) --out \(parts)")
      for part in 0..<parts {
        try command(0, "", "decide jobs/backfill.json --partition \(parts) --part \(part) --out r\(parts)/\(part)")
      }
      try command(0, words, "collect jobs/backfill.json r\(parts)/* --store all.sqlite")
      try command(0, "", "post jobs/backfill.json --store all.sqlite --sandbox --summary \(parts).json")
    }
    #expect(try Summary(workspace.read("2.json"))["upload.eventsPosted"] == 37)
    // What is told of lines that are known adds up, too.
    try command(0, "", "collect jobs/backfill.json r3/* --store all.sqlite --summary again.json")
    let again = try Summary(workspace.read("again.json"))
    #expect(again["records.quarantined"] > 0)
    #expect(again.text("quarantineReasons") != "{}")
    #expect(try Summary(workspace.read("3.json"))["upload.eventsPosted"] == 0)
    #expect(try Summary(workspace.read("3.json")).text("store") == Summary(workspace.read("2.json")).text("store"))
  }

  /// Six devices, an event each, on the day of the night.
  private static func night(_ day: Int) -> String {
    ["a", "b", "c", "d", "e", "f"].map { device in
      #"{"deviceId":"\#(device)","timestamp":"2026-01-\#(10 + day)T08:00:00Z","type":"namedEvent","name":"n"}"# + "\n"
    }.joined()
  }

  /// A job that has nights to come, and what makes one of them: lines, partition and both decisions.
  private func nights() throws -> (
    Command, (_ day: Int, _ folder: String, _ after: String?, _ set: String) throws -> Void
  ) {
    let workspace = try Workspace([])
    try workspace.write(
      "job.json",
      #"{"name": "j", "inputs": {"events": ["in.ndjson"]}, "store": "all.sqlite", "asOf": "2026-02-20T00:00:00Z"}"#)
    let command = Command(workspace: workspace)
    return (
      command,
      { day, folder, after, set in
        try workspace.write("in.ndjson", Self.night(day))
        try command(
          0, "", "partition job.json --parts 2 \(after.map { "--after \($0)/p" } ?? "") --out \(folder)/p \(set)")
        for part in 0..<2 {
          let state = after.map { "--state-in \($0)/\(part)" } ?? ""
          try command(
            0, "", "decide job.json --partition \(folder)/p --part \(part) \(state) --out \(folder)/\(part) \(set)")
        }
      }
    )
  }

  @Test(
    "A night that is missing, comes too early, is half or continues none is refused with what is missing; --new-chain takes it"
  )
  func order() throws {
    let (command, night) = try nights()
    for day in 1...3 { try night(day, "\(day)", day > 1 ? "\(day - 1)" : nil, "") }
    let none = "error: these parts have 6 lines, none of which is in the store; nothing was collected. "
    try command(78, none + "These parts continue partition ", "collect job.json 3/0 3/1")
    try command(0, "", "collect job.json 1/0 1/1")
    let early = try command(78, none + "They continue partition ", "collect job.json 3/0 3/1")
    #expect(early.contains(", which was not collected here: collect it first. The last one collected is "))
    try command(66, "1 part of 2 is missing: 1", "collect job.json 2/0")
    try command(
      78, "6 lines would be added from another partition while parts of partition ", "collect job.json 3/0 3/1")
    try command(0, "", "collect job.json 2/1")
    try command(0, "", "collect job.json 3/0 3/1")
    try command(0, "2 parts were collected before", "collect job.json 1/0 1/1")
    try night(4, "second", "2", "")
    let fork = try command(78, none + "They continue partition ", "collect job.json second/0 second/1")
    #expect(fork.contains(", after which 1 partition was collected here. The last one collected is "))
    try night(4, "new", nil, "")
    let forgotten = try command(78, none, "collect job.json new/0 new/1")
    #expect(
      forgotten.contains(
        "They were partitioned without --after, but 3 partitions were already collected here. The last one"))
    #expect(forgotten.contains("engage-batch partition JOB --parts 2 --after FOLDER --out NEW. "))
    #expect(forgotten.contains("To start a new chain, in which devices begin without states: --new-chain"))
    try command(0, "", "collect job.json new/0 new/1 --new-chain")
    try command(0, "", "post job.json --store all.sqlite --sandbox --summary posted.json")
    #expect(try Summary(command.workspace.read("posted.json"))["upload.eventsPosted"] == 24)
  }

  @Test(
    "A night in which one part was decided with other settings is refused, and the next night with them told by name")
  func settings() throws {
    let (command, night) = try nights()
    let other = "--set Upload.maxEventsPerRequest=7"
    try night(1, "1", nil, "")
    try night(1, "1-other", nil, other)
    try command(
      78, "its part was processed with different settings than the others; decide it again",
      "collect job.json 1/0 1-other/1")
    try command(66, "1 part of 2 is missing: 1", "collect job.json 1/0")
    let mixed = try command(
      78,
      "the store has parts of this partition that were processed with different settings: Upload.maxEventsPerRequest. ",
      "collect job.json 1-other/1")
    #expect(mixed.contains("after 'engage-batch store drop-partition --store "))
    try command(0, "", "collect job.json 1/1")
    try night(2, "2-of-other", "1-other", other)
    try command(
      78, "these parts continue states of partition ",
      "collect job.json 2-of-other/0 2-of-other/1")
    try night(2, "2", "1", other)
    try command(
      0,
      "Settings: this partition was processed with different settings than the previous one: Upload.maxEventsPerRequest",
      "collect job.json 2/0 2/1")
  }

  @Test("A partition whose other part is lost is taken back with its counts, and comes again in another cut")
  func dropped() throws {
    let (command, night) = try nights()
    try night(1, "1", nil, "")
    try night(2, "2", "1", "")
    try command(0, "", "collect job.json 1/0 1/1")
    try command(
      0, "no partition has missing parts; nothing was changed", "store drop-partition --store all.sqlite")
    try command(78, "2/1: error: part 1 is given twice, here and as 2/1", "collect job.json 2/1 2/1")
    try command(66, "1 part of 2 is missing: 0; decide and collect it first", "collect job.json 2/1")
    try command(66, "engage-batch store drop-partition --store ", "post job.json --store all.sqlite --sandbox")
    let dropped = try command(0, "in partition ", "store drop-partition --store all.sqlite")
    #expect(dropped.contains(", 1 part of 2 was dropped: ") && dropped.contains(" quarantined, "))
    try command(0, "", "post job.json --store all.sqlite --sandbox --summary first.json")
    try command(0, "", "collect job.json 2/0 2/1")
    try command(0, "", "post job.json --store all.sqlite --sandbox --summary second.json")
    let posted = try ["first", "second"].map {
      try Summary(command.workspace.read("\($0).json"))["upload.eventsPosted"]
    }
    #expect(posted == [6, 6])
  }

  @Test("The store of a result is changed by nobody who does not mean it: 78, and its bytes stay")
  func onlyStates() throws {
    let (command, night) = try nights()
    try night(1, "1", nil, "")
    let before = try command.workspace.shell("sha256sum 1/0/store.sqlite").output
    for line in [
      "store purge --digest-days 1 --device-days 1", "store purge", "store drop-partition", "run job.json --no-upload",
      "post job.json --sandbox", "forget job.json --device a",
    ] {
      try command(
        78, "this store is the result of 'decide' for one part and holds the only copy of that part's device states",
        "\(line) --store 1/0/store.sqlite")
    }
    #expect(try command.workspace.shell("sha256sum 1/0/store.sqlite").output == before)
  }

  @Test("Manifests, parts, results and lists that are no files, have no end or absurd numbers are refused at once")
  func foreignFiles() throws {
    let workspace = try PartsTests.workspace(.odd)
    let command = Command(workspace: workspace)
    try command(0, "", "partition job.json --parts 1 --out p")
    try command(0, "", "decide job.json --partition p --part 0 --out r")
    func broken(_ name: String, _ change: String) throws {
      let made = try workspace.shell(
        "rm -rf \(name) && cp -r \(name.first == "q" ? "p" : "r") \(name) && cd \(name) && \(change)")
      #expect(made.code == 0, "\(made.messages)")
    }
    let decide = "decide job.json --part 0 --out x --partition"
    try broken("q", "rm manifest.json && mkfifo manifest.json")
    try command(78, "q/manifest.json: error: it is a FIFO, but must be a file", "\(decide) q")
    try broken("q", "ln -sf /dev/zero manifest.json")
    try command(78, "q/manifest.json: error: it is a device, but must be a file", "\(decide) q")
    try broken("q", "truncate -s 300M manifest.json")
    try command(78, "q/manifest.json: error: it exceeds 256 MiB", "\(decide) q")
    for (from, to) in [
      (#""milliseconds" : [0-9]*"#, #""milliseconds" : 9223372036854775807"#),
      (#""lines" : [0-9]*"#, #""lines" : 9223372036854775807"#), (#""number" : 1"#, #""number" : 4294967295"#),
    ] {
      try broken("q", "sed -i 's/\(from)/\(to)/' manifest.json")
      try command(
        78, "q/manifest.json: error: it has an invalid number, time or name", "\(decide) q")
    }
    try broken("q", "rm part-00000 && mkfifo part-00000")
    try command(78, "q/part-00000: error: it is a FIFO", "\(decide) q")
    try broken(
      "q", #"sed -i '/knownUntil/,/}/s/"milliseconds" : [0-9]*/"milliseconds" : -9223372036854775808/' manifest.json"#)
    try command(78, "q/manifest.json: error: it has an invalid number, time or name", "\(decide) q")
    try broken("s", #"sed -i 's/"sessionsStarted" : [0-9]*/"sessionsStarted" : -9223372036854775808/' result.json"#)
    try command(
      78, "s/result.json: error: it has an invalid number", "collect job.json s --store s.sqlite")
    try broken("s", "rm result.json && mkfifo result.json")
    try command(78, "s/result.json: error: it is a FIFO", "collect job.json s --store s.sqlite")
    try broken("s", "rm store.sqlite && ln -s /dev/zero store.sqlite")
    try command(78, "s/store.sqlite: error: it is a device", "collect job.json s --store s.sqlite")
    try broken("s", #"sed -i 's/"part" : 0/"part" : 9/' result.json"#)
    try command(
      78, "s/result.json: error: it has an invalid number", "collect job.json s --store s.sqlite")
    try command(78, "it is a device", "partition job.json --parts 1 --files /dev/zero --only 0 --out x")
    #expect(!workspace.exists("x"))
  }

  @Test(
    "What killed attempts left goes with the next one; one that is worked on stays, and too few descriptors are told first"
  )
  func attempts() throws {
    let workspace = try PartsTests.workspace(.odd)
    let command = Command(workspace: workspace)
    let made = try workspace.shell(
      "mkdir .engage-batch-aaaaaa .engage-batch-bbbbbb && head -c 100 /dev/zero > .engage-batch-aaaaaa/part-00000")
    #expect(made.code == 0)
    let run = try workspace.shell(
      "flock .engage-batch-bbbbbb sh -c 'engage-batch partition job.json --parts 2 --out p; ls -d .engage-batch-*'")
    #expect(run.output == ".engage-batch-bbbbbb\n", "\(run.messages)")
    try command(0, "", "partition job.json --parts 2 --out p")
    #expect(try workspace.shell("ls -d .engage-batch-*").output == "")

    let few = try workspace.shell("ulimit -n 300; engage-batch partition job.json --parts 512 --out many")
    #expect(few.code == 74)
    #expect(
      few.messages
        == "error: only 300 files may be open at once, but a run needs 576; raise the hard limit with 'ulimit -Hn 576'\n"
    )
    let soft = try workspace.shell("ulimit -Sn 300; engage-batch partition job.json --parts 512 --out many")
    #expect(soft.code == 0, "\(soft.messages)")
  }
}
