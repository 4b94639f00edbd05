import BatchConfiguration
import BatchFoundation
import FoundationEssentials

/// A single finding of a configuration check.
struct ConfigFinding {
  var file: String
  var line: Int?
  /// The severity as messages spell it: `error`, `warning` and so on.
  var severity: String
  var text: String
  /// The finding as a line on stderr.
  var description: String

  var isError: Bool { severity == ConfigurationFault.Severity.error.rawValue }
}

extension ConfigFinding {
  init(_ fault: ConfigurationFault) {
    self.init(
      file: fault.place.source, line: fault.place.line, severity: fault.severity.rawValue,
      text: fault.problem + (fault.hint.map { "; \($0)" } ?? ""), description: fault.description)
  }

  /// Returns the message of an error without its severity, which the finding has.
  static func problem(_ words: String) -> String {
    for severity in ["error: ", "warning: "] where words.hasPrefix(severity) {
      return String(words.dropFirst(severity.count))
    }
    return words
  }

  /// Returns the findings for a file, which `findings` gets with its name in messages, or that it cannot be read.
  static func lint(
    _ path: String, _ what: String, _ findings: (_ bytes: [UInt8], _ name: String) -> [ConfigFinding]
  ) -> [ConfigFinding] {
    let name = PathText.shown(path, from: FileManager.default.currentDirectoryPath)
    do {
      return findings(try RegularFile.read(path), name)
    } catch {
      let reason = if case .system = error { "" } else { ": \(error.reason)" }
      return [ConfigFinding(ConfigurationFault(Place(name), "\(what) cannot be read\(reason)"))]
    }
  }
}
