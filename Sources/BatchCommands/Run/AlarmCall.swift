import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import BatchWire
import FoundationEssentials

/// A notification of a run's result to `Report.alarm` and `Report.alarmCommand`: best effort, once, within ten seconds.
struct AlarmCall {
  private static let seconds = 10.0

  let request: RunRequest

  /// Sends the alarm if it is due.
  ///
  /// - Parameter isKept: Whether the store records how the run ended.
  func send(_ alarm: Alarm, isKept: Bool) {
    // The run that holds the store reports its end itself. Dry runs and replays raise no alarm.
    guard alarm.exit != .storeIsHeld, request.mode.keeps, request.mode != .replay else { return }
    defer { if isKept, FileManager.default.fileExists(atPath: note) { forgetFailure() } }
    let report = request.settings.report
    guard report.alarm != nil || !report.alarmCommand.isEmpty, alarm.isDue(after: exitBefore) else { return }
    var alarm = alarm
    alarm.machine = ProcessInfo.processInfo.hostName
    alarm.address = request.storeDestination.address
    alarm.fault = HTTPFault.Kind.allCases.map(\.rawValue).first { alarm.reason?.contains($0) ?? false }
    if let address = report.alarm { post(alarm, to: address.reveal(), report.alarmForm) }
    if !report.alarmCommand.isEmpty { start(report.alarmCommand, alarm) }
    // If the note cannot be written, each failure is reported, but recovery is not.
    if !isKept { try? OutputFile.write("\(alarm.exit.rawValue)\n", to: note) }
  }

  /// A file next to the store for a failure that the store does not record, because the run did not get that far.
  private var note: String { "\(request.storePath).failed-\(PathText.component(request.job.name))" }

  private func forgetFailure() {
    do {
      try FileManager.default.removeItem(atPath: note)
    } catch {
      warn("\(note.printable) could not be removed; delete this file, or the next failure will not be reported")
    }
  }

  /// The exit of the last run before this one, from the note or the store; nil if neither has it.
  private var exitBefore: RunExit? {
    // A missing or unreadable note is ignored.
    if let text = try? String(contentsOfFile: note, encoding: .utf8).prefix(while: \.isNumber), let exit = Int32(text) {
      return RunExit(rawValue: exit)
    }
    // Without a readable store, each failure is reported.
    guard FileManager.default.fileExists(atPath: request.storePath),
      let store = try? Platforms.installed.openReading(request.storePath).store
    else { return nil }
    // Unreadable runs are ignored.
    let runs = (try? store.runs.all()) ?? []
    // If this fails, the end of the process closes the store.
    try? store.close()
    return runs.last { $0.job == request.job.name && $0.exit != nil && $0.started < request.now }
      .flatMap { $0.exit.flatMap(RunExit.init(rawValue:)) }
  }

  private func post(_ alarm: Alarm, to url: String, _ form: AlarmForm) {
    do {
      let (origin, target) = Self.parts(of: url)
      var settings = try HTTPSettings(request.settings.connection)
      (settings.connectSeconds, settings.totalSeconds) = (Self.seconds / 2, Self.seconds)
      let outcome = HTTPClient(settings).send(
        HTTPRequest(
          .post, try ServiceAddress(origin), target, headers: [.init("Content-Type", "application/json")],
          body: Array(alarm.body(form).utf8)))
      switch outcome {
      case .answer(let answer) where (200..<300).contains(answer.status): return
      case .answer(let answer): warn("the Report.alarm URL returned status \(answer.status)")
      case .notSent(let fault), .noAnswer(let fault):
        warn("the call to the Report.alarm URL failed: \(fault.kind.rawValue)")
      }
    } catch let fault as ServiceAddress.Fault {
      warn("Report.alarm is not a usable address: \(fault)")
    } catch {
      warn("Report.alarm failed: \(error)")
    }
  }

  /// Splits the URL into the address before its path and the rest, which may contain a key.
  private static func parts(of url: String) -> (origin: String, target: String) {
    let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
    guard let slash = url[start...].firstIndex(where: { $0 == "/" || $0 == "?" }) else { return (url, "/") }
    let target = url[slash...]
    return (String(url[..<slash]), target.hasPrefix("/") ? String(target) : "/" + target)
  }

  private func start(_ words: [String], _ alarm: Alarm) {
    let command = LineProgram.Command(
      words: words, folder: request.job.directory, timeout: Milliseconds(Int64(Self.seconds * 1000)))
    switch LineProgram(command).sendLast(Array(alarm.body(.json).utf8)) {
    case nil: return
    // The codes of a shell that cannot run the program.
    case .notStarted?, .failed(126)?, .failed(127)?: warn("Report.alarmCommand could not be started")
    case .hung?: warn("Report.alarmCommand took more than 10 seconds and was killed")
    case let failure?: warn("Report.alarmCommand failed: \(failure)")
    }
  }

  private func warn(_ words: String) { Streams.note("warning: \(words)") }
}
