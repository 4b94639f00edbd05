package import BatchConfiguration
import BatchIngest
import BatchMaps
import FoundationEssentials

/// The maps that a job names, by their names.
package struct JobMaps {
  private var maps: [String: InputMap] = [:]
  /// What is odd about them, and no reason not to use them.
  package private(set) var warnings: [ConfigurationFault] = []

  /// - Throws: `ConfigurationErrors` with all that is wrong with all of them.
  package init(_ job: Job) throws {
    let inputs = job.inputs.events + job.inputs.notifications + job.inputs.deepLinks
    try self.init(names: Set(inputs.compactMap(\.map)).sorted())
  }

  /// The map that a list of files calls by a name, relative to the job.
  static func map(_ name: String, of job: Job) throws -> InputMap? {
    let name = MapName.isFile(name) ? BatchConfiguration.FilePath.resolve(name, in: job.directory) : name
    return try JobMaps(names: [name])[name]
  }

  private init(names: [String]) throws {
    guard !names.isEmpty else { return }
    let library = MapLibrary(
      environment: ProcessInfo.processInfo.environment, currentDirectory: FileManager.default.currentDirectoryPath)
    var faults: [ConfigurationFault] = []
    for name in names {
      do {
        let (map, warnings) = try library.load(name)
        maps[name] = InputMap(map, identity: name)
        self.warnings += warnings
      } catch {
        faults += error.faults
      }
    }
    guard faults.isEmpty else { throw ConfigurationErrors(faults) }
  }

  subscript(name: String) -> InputMap? { maps[name] }
}
