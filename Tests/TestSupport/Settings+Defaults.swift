package import BatchConfiguration
import BatchFoundation

extension Settings {
  /// What a job runs with that sets nothing: the defaults of the schema, which stand nowhere else.
  package static let defaults: Settings = {
    do {
      return try ConfigurationLoader(
        environment: [:], currentDirectory: "/", destinations: ["engage", "deltadna", "unity"],
        now: Instant(milliseconds: 0)
      ).load(files: []).settings
    } catch {
      // Defaults that contradict each other are a fault of the schema, and no test could run.
      preconditionFailure("\(error)")
    }
  }()
}
