import FoundationEssentials
import Testing

@Suite("Backups of a store") struct StoreBackupTests {
  @Test("A copy is whole, its owner's alone, says what the store says, and takes nothing's place")
  func copy() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0)
    let backup = ["store", "backup", "--store", "var/nightly.sqlite", "copy.sqlite"]
    let made = try workspace.run(backup)
    #expect(made.code == 0 && made.messages.hasPrefix("copy.sqlite: an intact copy of the store, "), "\(made.messages)")
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(workspace.path)/copy.sqlite")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    func status(_ store: String) throws -> String {
      try workspace.run("store", "status", "--store", store, "--format", "json").output
    }
    #expect(try status("copy.sqlite") == status("var/nightly.sqlite"))
    #expect(try workspace.run("store", "check", "--store", "copy.sqlite").code == 0)
    let again = try workspace.run(backup)
    #expect(again.code == 73 && again.messages.contains("copy.sqlite"), "\(again.messages)")
    // A copy that takes the store's place goes on where that was.
    let moved = try workspace.shell("rm var/nightly.sqlite* && cp copy.sqlite var/nightly.sqlite")
    #expect(moved.code == 0)
    let next = try workspace.run("run", "jobs/nightly.json", "--no-upload", "--summary", "-")
    #expect(try Summary(next.output)["records.accepted"] == 0, "\(next.messages)")
  }

  @Test("Copies that are made beside runs are whole")
  func besideRuns() throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/nightly.json", "--no-upload").code == 0)
    let made = try workspace.shell(
      """
      (for i in 1 2 3; do engage-batch run jobs/nightly.json --no-upload --quiet; done) &
      for i in 1 2 3 4 5 6; do engage-batch store backup --store var/nightly.sqlite copy$i.sqlite || exit 1; done; wait
      for i in 1 2 3 4 5 6; do engage-batch store check --store copy$i.sqlite || exit 1; done
      """)
    #expect(made.code == 0, "\(made.messages)")
    #expect(!(try FileManager.default.contentsOfDirectory(atPath: workspace.path)).contains { $0.hasPrefix(".engage") })
  }
}
