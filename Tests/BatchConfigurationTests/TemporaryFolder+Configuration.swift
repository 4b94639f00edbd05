import BatchConfiguration
import BatchFoundation
import TestSupport

extension TemporaryFolder {
  /// - Parameter now: the time of the run; 1970 where it does not matter.
  func loader(
    _ environment: [String: String] = [:], now: Instant = Instant(milliseconds: 0)
  ) -> ConfigurationLoader {
    ConfigurationLoader(
      environment: environment, currentDirectory: path, destinations: ["engage", "deltadna", "unity"], now: now)
  }

  /// The lines that a file's faults make, or none when it is accepted.
  func faults(of file: String, _ overrides: [SettingOverride] = []) -> [String] {
    do {
      return try loader().load(files: [file], CommandLineChanges(settings: overrides)).warnings.map(\.description)
    } catch {
      return error.faults.map(\.description)
    }
  }
}
