package import BatchFoundation

/// The command line of a run, from which the commands that repeat or continue the run are built.
package struct RunInvocation: Sendable, Equatable, Codable {
  /// The absolute path of the job file; all other paths are absolute, too.
  package var jobFile: String
  /// The values of `--store` and `--report`; nil if not given.
  package var store: String?
  package var report: String?
  /// The value of `--profile`; nil if not given.
  package var profile: String?
  /// `Section.key=value` for each `--set`, without secrets.
  package var settings: [String] = []
  /// The names of secrets given with `--set`, whose values no output may repeat.
  package var secrets: [String] = []
  package var from: Instant?
  package var to: Instant?
  package var asOf: Instant?
  /// Whether `asOf` may be far ahead of the clock; nil means false.
  package var allowsFuture: Bool?
  package var usesSandbox = false
  /// The given flags that affect the run, such as `--dry-run` and `--allow-missing`.
  package var modes: [String] = []

  /// The number of parts in each partition that the store collects; nil if runs fill the store directly.
  package var parts: Int?

  package init(jobFile: String) { self.jobFile = jobFile }

  /// The command that repeats the run, to continue where it ended; if the store collects parts, the command that makes
  /// the next partition.
  package var run: ShellCommand {
    if let parts {
      return ShellCommand(
        ["partition", jobFile, "--parts", "\(parts)", "--after", "LAST", "--out", "NEW"]
          + modes.filter { $0 == "--allow-missing" } + window + clock + future + configuration)
    }
    return ShellCommand(["run", jobFile] + modes + place + window + clock + future + configuration + reports)
  }

  /// Returns the text of a command, with hints about everything that the user must add to it or do after it.
  ///
  /// - Parameter command: a command that starts a run; nil for ``run``.
  func runText(_ command: ShellCommand? = nil) -> String {
    (command ?? run).text + omission
      + (parts == nil
        ? ""
        : " (replace LAST with the folder of the last partition and NEW with a new folder), "
          + "then 'decide' and 'collect'")
  }

  /// The command that sends the events in the store of this run.
  package var post: ShellCommand { ShellCommand(["post", jobFile] + place + clock + future + configuration + reports) }

  /// Returns the command that finishes the identity plans in the store.
  func resumeIdentities(in store: String) -> ShellCommand {
    let sandbox = usesSandbox ? ["--sandbox"] : []
    return ShellCommand(["identity", "resume", "--store", store, "--job", jobFile] + sandbox + configuration)
  }

  /// Returns the command that imports quarantined lines again.
  package func replay(in store: String) -> ShellCommand {
    ShellCommand(["quarantine", "replay", "--store", store, "--job", jobFile] + configuration + clock + future)
  }

  /// Returns the command that processes a window of the store again.
  package func rerun(from: Instant, to: Instant) -> ShellCommand {
    ShellCommand(["rerun", jobFile, "--from", from.rfc3339, "--to", to.rfc3339] + place + configuration)
  }

  /// The command that verifies that everything arrived at the service.
  var verify: ShellCommand { ShellCommand(["verify", jobFile] + place + configuration) }

  /// Returns the command that compares the results of the same inputs with and without a changed setting and writes an
  /// HTML page.
  func compare(with setting: String, page: String) -> ShellCommand {
    ShellCommand(["compare", jobFile] + window + clock + configuration + ["--with", setting, "--html", page])
  }

  /// A hint about options to add by hand, because they are not printed; empty if there are none.
  package var omission: String {
    secrets.isEmpty ? "" : " (with the same --set \(secrets.joined(separator: ", ")) as before, not shown here)"
  }

  private var place: [String] { (usesSandbox ? ["--sandbox"] : []) + option("--store", store) }
  private var window: [String] { option("--from", from?.rfc3339) + option("--to", to?.rfc3339) }
  private var clock: [String] { option("--as-of", asOf?.rfc3339) }
  private var future: [String] { allowsFuture == true ? ["--allow-future"] : [] }
  private var configuration: [String] { option("--profile", profile) + settings.flatMap { ["--set", $0] } }
  private var reports: [String] { option("--report", report) }

  private func option(_ name: String, _ value: String?) -> [String] { value.map { [name, $0] } ?? [] }
}

/// A command line of this program that can be pasted into a POSIX shell as printed.
package struct ShellCommand: Sendable, Equatable {
  /// The words without the program's name.
  package var words: [String]

  package init(_ words: String...) { self.words = words }

  package init(_ words: [String]) { self.words = words }

  package var text: String { (["engage-batch"] + words.map(Self.quoted)).joined(separator: " ") }

  /// Returns the word, quoted if necessary, so that the shell takes every character literally.
  static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "._/-+@=:,".utf8.contains($0) }
    guard !isPlain else { return text }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
