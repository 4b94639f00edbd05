import BatchReport
import Foundation
import Testing

@testable import BatchPipeline

/// An opened local notification sets a campaign like a pushed one (reference decisions 41).
@Suite("Campaigns of local notifications") struct LocalCampaignTests {
  private static let job = """
    {"name": "j", "inputs": {"notifications": ["in/*"]}, "asOf": "2026-01-02T00:00:00Z", "store": "j.sqlite"}
    """

  /// The campaign of the notification's event, and how many campaigns were set.
  private func campaign(_ action: String, _ members: String) throws -> String {
    let line =
      #"{"deviceId":"d","mobileUserId":"u","timestamp":"2026-01-01T00:00:00Z","action":"\#(action)","channel":"local",\#(members)}"#
    let folder = try JobFolder(["job.json": Self.job, "in/a": line])
    var request = try folder.request()
    request.eventsOut = "\(folder.path)/events"
    let summary = try folder.run(request).report.summary
    #expect(summary.records.accepted == 1)
    let code = action == "opened" ? "49" : "48"
    let event = try #require(
      try folder.text("events").split(separator: "\n").first { $0.contains(#""eventTypeCode":"\#(code)""#) })
    let name = try #require(event.firstMatch(of: /"name":"Campaign Name","value":"([^"]*)"/)).1
    return "\(name) \(summary.campaignsSet)"
  }

  @Test(
    "It is looked for in the payload, and where that names none, in the notification",
    arguments: [
      (#""payload":{"CurrentCampaign":"p"}"#, "p 1"),
      (#""notification":{"userInfo":{"CurrentCampaign":"n"}}"#, "n 1"),
      (#""payload":{"alertBody":"b"},"notification":{"CurrentCampaign":"n"}"#, "n 1"),
      (#""payload":{"CurrentCampaign":"p"},"notification":{"CurrentCampaign":"n"}"#, "p 1"),
      (#""payload":{"CurrentCampaign":""},"notification":{"CurrentCampaign":"n"}"#, " 0"),
      (#""payload":{"CurrentCampaign":"p"},"notification":1"#, "p 1"),
      (#""payload":{},"notification":1"#, " 0"), (#""payload":{}"#, " 0"),
    ])
  func opened(members: String, campaign: String) throws {
    #expect(try self.campaign("opened", members) == campaign)
  }

  @Test("A received one sets none")
  func received() throws {
    #expect(try campaign("received", #""payload":{"CurrentCampaign":"p"}"#) == " 0")
    #expect(try campaign("received", #""payload":{},"notification":{"CurrentCampaign":"n"}"#) == " 0")
  }
}
