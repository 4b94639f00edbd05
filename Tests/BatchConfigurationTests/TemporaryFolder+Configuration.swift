import BatchConfiguration
import TestSupport

extension TemporaryFolder {
  func loader(_ environment: [String: String] = [:]) -> ConfigurationLoader {
    ConfigurationLoader(environment: environment, currentDirectory: path, destinations: ["engage", "deltadna"])
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
