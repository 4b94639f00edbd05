import BatchFoundation

/// Questions that a reader of a report may ask next, and the commands that answer them.
enum FurtherQuestions {
  static func of(_ report: RunReport) -> [(question: String, command: ShellCommand)] {
    var questions: [(question: String, command: ShellCommand)] = []
    if let store = report.store, report.mode != .dryRun {
      questions.append(
        (
          "Which events are there? The first column is what 'why' takes",
          ShellCommand("store", "events", "--store", store, "--limit", "20")
        ))
      questions.append(("What did the runs before do?", ShellCommand("history", "--store", store)))
      if report.mode != .noUpload { questions.append(("Did everything arrive?", report.invocation.verify)) }
    }
    if report.mode != .post, let setting = report.platform.settingToTry {
      questions.append(
        (
          "What would be different with another setting? As a page",
          report.invocation.compare(with: setting, page: "compare.html")
        ))
    }
    return questions
  }
}
