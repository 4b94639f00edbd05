import BatchFoundation
import Testing

@testable import BatchReport

/// `Report.alarm`: the change from good to failed and back.
@Suite struct AlarmTests {
  private func alarm(_ exit: RunExit) -> Alarm {
    var alarm = Alarm(
      job: "nightly", exit: exit, reason: "the \"service\" is away",
      command: exit == .done ? nil : "engage-batch run j.json")
    alarm.figures = [PlatformReport.Figure("read", 1200), PlatformReport.Figure("failed", 0)]
    return alarm
  }

  @Test(
    arguments: [
      (RunExit.done, nil, false), (.done, .done, false), (.done, .serviceUnavailable, true),
      (.serviceUnavailable, nil, true), (.serviceUnavailable, .done, true),
      (.configuration, .serviceUnavailable, false),
    ] as [(RunExit, RunExit?, Bool)])
  func isDueWhenGoodTurnsToFailedOrBack(exit: RunExit, before: RunExit?, isDue: Bool) {
    #expect(alarm(exit).isDue(after: before) == isDue)
  }

  @Test func saysWhatAndWhy() {
    let text =
      "nightly: failed with exit code 69, the service could not be reached or kept failing. the \\\"service\\\" is away. 1,200 read. To continue: engage-batch run j.json"
    #expect(
      alarm(.serviceUnavailable).body(.json)
        == #"{"job":"nightly","state":"failed","exit":69,"reason":"the \"service\" is away","figures":{"read":1200,"failed":0},"command":"engage-batch run j.json","text":"#
        + "\"\(text)\"}")
    #expect(alarm(.serviceUnavailable).body(.slack) == "{\"text\":\"\(text)\"}")
    #expect(alarm(.serviceUnavailable).body(.teams).contains(#""wrap":true,"text":"\#(text)"}]}}]}"#))
    #expect(alarm(.done).text == "nightly: good again. 1,200 read")
  }

  @Test func tellsAllThatWentWrong() {
    var report = RunReport.fixture(.hash)
    report.exit = .serviceUnavailable
    report.failure = "the service is away\nm.prom: cannot be written"
    #expect(Alarm(report).reason == "the service is away; m.prom: cannot be written")
    #expect(Alarm(report).body(.json).contains(#""reason":"the service is away; m.prom: cannot be written""#))
  }

  @Test func isMadeOfAReportWithoutAnyId() {
    let body = Alarm(.fixture(.clear)).body(.json)
    #expect(body.contains(#""figures":{"read":"#))
    #expect(!body.contains("@") && !body.contains("device"))
  }
}
