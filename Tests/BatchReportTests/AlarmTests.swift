import BatchFoundation
import Testing

@testable import BatchReport

/// `Report.alarm`: the change from good to failed and back.
@Suite struct AlarmTests {
  private func alarm(_ exit: RunExit) -> Alarm {
    var report = RunReport(
      job: "nightly", jobFile: "j.json", destination: "engage", startedAt: Instant(milliseconds: 0),
      asOf: Instant(milliseconds: 0))
    report.exit = exit
    report.failure = exit == .done ? nil : "the \"service\" is away"
    (report.from, report.to) = (Instant(milliseconds: 0), Instant(milliseconds: 86_400_000))
    report.summary.records.read = 1200
    report.summary.upload.eventsPending = exit == .serviceUnavailable ? 4 : 0
    return Alarm(report, folder: "/r/nightly-1")
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
    var alarm = alarm(.serviceUnavailable)
    (alarm.machine, alarm.address, alarm.fault) = ("batch1", "https://api.example.com", "no connection")
    #expect(
      alarm.text == "nightly, night of 1970-01-01 on batch1: 4 events were not sent. "
        + "https://api.example.com did not answer (no connection). The next run sends them. "
        + "Report: /r/nightly-1/report.html. To continue: engage-batch run j.json")
    #expect(
      alarm.body(.json).hasPrefix(
        #"{"job":"nightly","night":"night of 1970-01-01","machine":"batch1","address":"https://api.example.com","#
          + #""report":"/r/nightly-1/report.html","state":"failed","became":"failed","exit":69,"missed":[],"reason":"the \"service\" is away","#
      ))
    #expect(alarm.body(.slack) == "{\"text\":\"\(alarm.text)\"}")
    #expect(alarm.body(.teams).contains(#""wrap":true,"text":"\#(alarm.text)"}]}}]}"#))
    #expect(
      self.alarm(.done).text == "nightly, night of 1970-01-01: good again. 1,200 read. Report: /r/nightly-1/report.html"
    )
    #expect(
      self.alarm(.configuration).text == "nightly, night of 1970-01-01: failed, configuration error (exit code 78). "
        + "the \"service\" is away. 1,200 read. Report: /r/nightly-1/report.html. To continue: engage-batch run j.json")
  }

  @Test func tellsAllThatWentWrong() {
    var report = RunReport.fixture(.hash)
    report.exit = .serviceUnavailable
    report.failure = "the service is away\nm.prom: cannot be written"
    #expect(Alarm(report).reason == "the service is away; m.prom: cannot be written")
    #expect(Alarm(report).body(.json).contains(#""reason":"the service is away; m.prom: cannot be written""#))
  }

  @Test func namesWindowsThatWereMissedInEachRun() {
    var report = RunReport.fixture(.hash)
    let day = Instant(milliseconds: 1_767_225_600_000)
    report.summary.missed = [
      MissedWindow(from: day, to: Instant(milliseconds: day.milliseconds + 86_400_000), asOf: day)
    ]
    let alarm = Alarm(report)
    #expect(alarm.isDue(after: .done) && alarm.isDue(after: .noInput))
    #expect(
      alarm.text.contains(
        ": done with findings. Never read: 2026-01-01T00:00:00.000Z to 2026-01-02T00:00:00.000Z. "), "\(alarm.text)")
    #expect(alarm.text.contains(". To read the missed window: engage-batch run "))
    #expect(
      alarm.body(.json).contains(
        #""state":"missed","became":"done with findings","exit":0,"missed":[{"from":"2026-01-01T00:00:00.000Z","to":"2026-01-02T00:00:00.000Z"}]"#
      ))
  }

  @Test func isMadeOfAReportWithoutAnyId() {
    let body = Alarm(.fixture(.clear)).body(.json)
    #expect(body.contains(#""figures":{"read":"#))
    #expect(!body.contains("@") && !body.contains("device"))
  }
}
