import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// What a job's runs say of each other, and where they are told of.
@Suite("Nights") struct NightsTests {
  private func workspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.write(
      "job.json",
      """
      {"name": "j", "configuration": ["configs/EngageConfig.plist"], "inputs": {"events": ["in/*.ndjson"]},
       "store": "var/j.sqlite", "reports": "reports"}
      """)
    return workspace
  }

  private func night(_ workspace: Workspace, _ day: Int, events: Int, _ more: String...) throws -> Finished {
    let lines = (0..<events).map {
      #"{"deviceId":"d\#($0)","timestamp":"2026-01-1\#(day)T12:00:00Z","type":"namedEvent","name":"n"}"# + "\n"
    }
    try workspace.write("in/a.ndjson", lines.joined())
    return try workspace.run(
      ["run", "job.json", "--as-of", "2026-01-1\(day)T14:00:00Z", "--no-upload", "--summary", "-"] + more)
  }

  @Test("A night that is unlike those before is told, and refused on request before anything is sent")
  func aNightUnlikeThoseBeforeIsToldAndRefusedOnRequest() throws {
    let workspace = try workspace()
    for day in 1...3 {
      let usual = try night(workspace, day, events: 90 + day, "--fail-on", "unusual")
      #expect(usual.code == 0 && !usual.messages.contains("unusual"), "\(usual.messages)")
    }
    let told = try night(workspace, 4, events: 12)
    let words = "usable records: 12; the previous 3 runs had 91 to 93"
    #expect(told.code == 0 && told.messages.contains("  unusual    \(words)\n"), "\(told.messages)")
    let report = try workspace.run("report", "--store", "var/j.sqlite", "--format", "json").output
    #expect(try JSONNode.parse(Array(report.utf8))["unusual"]?.array?.map(\.string) == [words])
    let page = try workspace.run("report", "--store", "var/j.sqlite", "--format", "html").output
    #expect(page.contains("<p class=\"attention\">Unusual: \(words).</p>"))
    let refused = try night(workspace, 5, events: 3, "--fail-on", "unusual")
    #expect(refused.code == 65, "\(refused.messages)")
    #expect(
      refused.messages.contains(
        "error: unusual figures, so nothing was sent (--fail-on unusual): "
          + "usable records: 3; the previous 4 runs had 12 to 93"),
      "\(refused.messages)")
    let apart = try night(workspace, 6, events: 2, "--fail-on", "unusual", "--set", "Report.usualFactor=6")
    #expect(apart.code == 0, "\(apart.messages)")
    let off = try night(workspace, 7, events: 1, "--fail-on", "unusual", "--set", "Report.usualRuns=0")
    #expect(off.code == 0, "\(off.messages)")
    let index = try workspace.read("reports/index.html")
    #expect(index.contains("<b class=\"bad\">1</b><span>not done</span>"))
    #expect(index.components(separatedBy: "/report.html\">").count > 6)
  }

  @Test("A run is written for OpenTelemetry as two lines of OTLP")
  func telemetry() throws {
    let workspace = try workspace()
    #expect(try night(workspace, 1, events: 3, "--otlp", "var/otlp.json").code == 0)
    let lines = try workspace.read("var/otlp.json").split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
    #expect(lines.count == 2)
    let scope = lines.first?["resourceSpans"]?.array?.first?["scopeSpans"]?.array?.first
    let spans = try #require(scope?["spans"]?.array)
    #expect(spans.first?["name"]?.string == "run j" && spans.first?["status"]?["code"]?.integer == 1)
    #expect(spans.count > 1 && spans.allSatisfy { $0["traceId"]?.string?.utf8.count == 32 })
    #expect(spans.dropFirst().allSatisfy { $0["parentSpanId"]?.string == spans.first?["spanId"]?.string })
    #expect(Set(spans.compactMap { $0["spanId"]?.string }).count == spans.count)
    for span in spans {
      let times = ["startTimeUnixNano", "endTimeUnixNano"].compactMap { span[$0]?.string.flatMap { Int64($0) } }
      #expect(times.count == 2 && times[0] <= times[1])
    }
    let metrics = try #require(
      lines.last?["resourceMetrics"]?.array?.first?["scopeMetrics"]?.array?.first?["metrics"]?.array)
    let records = metrics.first { $0["name"]?.string == "engage_batch_run_records" }
    let accepted = records?["gauge"]?["dataPoints"]?.array?.first { $0.compactText.contains("accepted") }
    #expect(accepted?["asDouble"]?.integer == 3, "\(metrics)")
    try workspace.write("job.json", #"{"name": "j", "inputs": {"events": ["none/*"]}, "store": "var/k.sqlite"}"#)
    #expect(try workspace.run("run", "job.json", "--no-upload", "--otlp", "var/otlp.json").code == 66)
    #expect(try workspace.read("var/otlp.json").contains(#""status": {"code": 2,"message": "no input"}"#))
  }
}
