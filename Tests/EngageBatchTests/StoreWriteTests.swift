import TestSupport
import Testing

@Suite("What a run writes") struct StoreWriteTests {
  /// For a statement that may fail halfway SQLite keeps the pages that it changes, in a temporary file outside of the job's folder.
  @Test("States of devices are written into the store only, of new and of known ones")
  func states() throws {
    let workspace = try Workspace()
    for night in 1...2 {
      let lines = (0..<3000).map {
        #"{"deviceId":"device-\#($0)","timestamp":"2026-01-15T0\#(night):00:00Z","type":"namedEvent","name":"seen"}"#
      }
      try workspace.write("samples/events/night-\(night).ndjson", lines.joined(separator: "\n") + "\n")
      let finished = try workspace.start(
        program: "/usr/bin/strace",
        [
          "-f", "-qq", "-e", "trace=openat", "-o", "trace", Checkout.binary, "run", "jobs/nightly.json", "--no-upload",
          "--as-of", "2026-01-15T0\(night):30:00Z",
        ]
      ).finish()
      #expect(finished.code == 0, "\(finished.messages)")
      let created = try workspace.read("trace").split(separator: "\n").filter { $0.contains("O_CREAT") }
      #expect(created.contains { $0.contains("nightly.sqlite") })
      #expect(created.filter { $0.contains("etilqs_") } == [])
    }
  }
}
