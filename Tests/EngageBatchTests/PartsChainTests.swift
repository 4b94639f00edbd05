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
    for (parts, words) in [(2, ""), (3, "are known here, however they are cut; nothing was added")] {
      try command(0, "", "partition jobs/backfill.json --parts \(parts) --out \(parts)")
      for part in 0..<parts {
        try command(0, "", "decide jobs/backfill.json --partition \(parts) --part \(part) --out r\(parts)/\(part)")
      }
      try command(0, words, "collect jobs/backfill.json r\(parts)/* --store all.sqlite")
      try command(0, "", "post jobs/backfill.json --store all.sqlite --sandbox --summary \(parts).json")
    }
    #expect(try Summary(workspace.read("2.json"))["upload.eventsPosted"] == 37)
    #expect(try Summary(workspace.read("3.json"))["upload.eventsPosted"] == 0)
    #expect(try Summary(workspace.read("3.json")).text("store") == Summary(workspace.read("2.json")).text("store"))
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
    try command(78, "q/manifest.json: error: it is a FIFO, and has to be a file", "\(decide) q")
    try broken("q", "ln -sf /dev/zero manifest.json")
    try command(78, "q/manifest.json: error: it is a device, and has to be a file", "\(decide) q")
    try broken("q", "truncate -s 300M manifest.json")
    try command(78, "q/manifest.json: error: it has more than 256 MiB", "\(decide) q")
    for (from, to) in [
      (#""milliseconds" : [0-9]*"#, #""milliseconds" : 9223372036854775807"#),
      (#""lines" : [0-9]*"#, #""lines" : 9223372036854775807"#),
    ] {
      try broken("q", "sed -i 's/\(from)/\(to)/' manifest.json")
      try command(
        78, "q/manifest.json: error: it has a number, a time or a name that no partition writes", "\(decide) q")
    }
    try broken("q", "rm part-00000 && mkfifo part-00000")
    try command(78, "q/part-00000: error: it is a FIFO", "\(decide) q")
    try broken("s", "rm result.json && mkfifo result.json")
    try command(78, "s/result.json: error: it is a FIFO", "collect job.json s --store s.sqlite")
    try broken("s", "rm store.sqlite && ln -s /dev/zero store.sqlite")
    try command(78, "s/store.sqlite: error: it is a device", "collect job.json s --store s.sqlite")
    try broken("s", #"sed -i 's/"part" : 0/"part" : 9/' result.json"#)
    try command(
      78, "s/result.json: error: it has a number that no decision writes", "collect job.json s --store s.sqlite")
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
        == "error: only 300 files may be open at once, and a run needs 576; raise the limit with 'ulimit -n'\n")
    let soft = try workspace.shell("ulimit -Sn 300; engage-batch partition job.json --parts 512 --out many")
    #expect(soft.code == 0, "\(soft.messages)")
  }
}
