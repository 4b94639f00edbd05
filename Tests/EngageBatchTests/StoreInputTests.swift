import TestSupport
import Testing

@Suite("Stores of the SDKs") struct StoreInputTests {
  @Test("What was not posted is sent, what was is counted; a second run sends nothing")
  func engageStores() throws {
    let workspace = try Workspace([])
    try copy(["EngageEventLocalStore2.sqlite", "EngageTesting.db"], to: workspace)
    try workspace.write(
      "job.json", #"{"name": "phones", "inputs": {"stores": ["phones"]}, "store": "var/phones.sqlite"}"#)
    let first = try workspace.run("run", "job.json", "--sandbox", "--summary", "-")
    #expect(first.code == 0, "\(first.messages)")
    let summary = try Summary(first.output)
    #expect(summary["records.read"] == 8 && summary["records.accepted"] == 6 && summary["records.leftOut"] == 2)
    #expect(summary["upload.eventsPosted"] == 6, "\(first.output)")
    let second = try Summary(try workspace.run("run", "job.json", "--sandbox", "--summary", "-").output)
    #expect(second["records.duplicates"] == 6 && second["upload.eventsPosted"] == 0)
  }

  @Test("Files of events of games are sent to Collect")
  func gameStores() throws {
    let workspace = try Workspace([])
    try copy(["ios-A", "ios-B", "unity-A", "android-legacy", "4c1c5a0e-6c0a-4b5e-9d0f-6a1b2c3d4e5f"], to: workspace)
    try workspace.write(
      "job.json",
      #"{"name": "phones", "destination": "deltadna", "inputs": {"stores": ["phones"]}, "store": "var/phones.sqlite"}"#)
    let run = try workspace.run("run", "job.json", "--sandbox", "--summary", "-")
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(run.output)["records.accepted"] == 6, "\(run.output)")
  }

  private func copy(_ names: [String], to workspace: Workspace) throws {
    for name in names { try workspace.write("phones/\(name)", try Checkout.bytes("samples/stores/\(name)")) }
  }
}
