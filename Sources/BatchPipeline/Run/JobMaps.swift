package import BatchConfiguration
package import BatchFoundation
import BatchIngest
package import BatchMaps
import FoundationEssentials

package struct JobMaps {
  private var maps: [String: InputMap] = [:]
  /// Problems of the maps that do not prevent their use.
  package private(set) var warnings: [ConfigurationFault] = []
  /// The record types that the maps name.
  package private(set) var types: [ForeignMap.NamedType] = []
  /// The columns in which the maps look for ids of people.
  private var idColumns: [ForeignMap.NamedType] = []

  /// - Throws: `ConfigurationErrors` with all faults of all maps.
  package init(_ job: Job) throws {
    let unknown = Self.inputs(of: job).flatMap { key, inputs in
      inputs.compactMap(\.map).filter { !MapName.isFile($0) && Preset.named($0) == nil }.map { (key, $0) }
    }
    guard unknown.isEmpty else {
      throw ConfigurationErrors(
        unknown.map { key, name in
          ConfigurationFault(
            Place(of: job), "'map' in an entry of 'inputs.\(key)' is '\(name.printable)', but there is no such preset",
            hint: MapLibrary.hint(about: name))
        })
    }
    try self.init(names: Self.names(of: job))
    for (key, inputs) in Self.inputs(of: job) {
      for record in inputs.compactMap(\.record) where ForeignMap.own.reading(record: record) == nil {
        throw ConfigurationErrors([
          ConfigurationFault(
            Place(of: job), "'record' in an entry of 'inputs.\(key)' is '\(record.printable)', which is not a path",
            hint: "write the names of members separated by dots, such as 'detail.event'")
        ])
      }
    }
  }

  private static func inputs(of job: Job) -> [(key: String, inputs: [JobInput])] {
    InputKind.allCases.map { ($0.name, job.inputs[$0]) }
  }

  /// Returns each name once, sorted.
  fileprivate static func names(of job: Job) -> [String] {
    Set(inputs(of: job).flatMap(\.inputs).compactMap(\.map)).sorted()
  }

  /// Returns the map that a list of files names; the path of a map file is relative to the job's folder.
  static func map(_ name: String, of job: Job) throws -> InputMap? {
    let name = MapName.isFile(name) ? PathText.resolve(name, in: job.directory) : name
    return try JobMaps(names: [name]).maps[name]
  }

  fileprivate init(names: [String]) throws {
    guard !names.isEmpty else { return }
    let library = MapLibrary(
      environment: ProcessInfo.processInfo.environment, currentDirectory: FileManager.default.currentDirectoryPath)
    var faults: [ConfigurationFault] = []
    for name in names {
      do {
        let (map, warnings) = try library.load(name)
        maps[name] = InputMap(map, identity: map.digest)
        self.warnings += warnings
        types += map.types
        idColumns += map.idColumns
      } catch {
        faults += error.faults
      }
    }
    guard faults.isEmpty else { throw ConfigurationErrors(faults) }
  }

  /// The map of an entry of `inputs`; nil if its lines are records in the program's own format.
  subscript(input: JobInput) -> InputMap? {
    guard let record = input.record else { return input.map.flatMap { maps[$0] } }
    guard let map = input.map.map({ maps[$0]?.map as? ForeignMap }) ?? ForeignMap.own else { return nil }
    return map.reading(record: record).map { InputMap($0, identity: $0.digest) }
  }

  /// Returns a fault for each column that a map reads ids from but the program itself writes (reference decisions 64).
  package func faults(_ settings: Settings) -> [ConfigurationFault] {
    let reserved = Set(settings.reservedColumns.map { FoldedText($0) })
    return idColumns.filter { reserved.contains(FoldedText($0.name)) }.map {
      ConfigurationFault($0.place, "'ids' names '\($0.name.printable)', a column that this program writes")
    }
  }

  /// Returns the files of the maps that a job names, and of the maps included in them, even if a map cannot be used.
  static func files(of job: Job) -> [String] {
    let library = MapLibrary(
      environment: ProcessInfo.processInfo.environment, currentDirectory: FileManager.default.currentDirectoryPath)
    return names(of: job).flatMap(library.files(of:))
  }
}

extension Place {
  /// Creates the place of the job's file, for messages.
  package init(of job: Job) { self.init(PathText.shown(job.file, from: FileManager.default.currentDirectoryPath)) }
}

/// The identity of a job's map. It distinguishes configurations, because events depend on maps as they do on settings.
package struct MapDigest: Sendable, Hashable {
  /// The name of the preset, or the path of the file relative to the job's folder.
  package var name: String
  /// `unreadable` for a map that cannot be used; the fault is reported when the inputs are read.
  package var text: String

  /// Reads all maps of a job, and returns their digests.
  package static func all(of job: Job) -> [MapDigest] {
    let inputs = Set(InputKind.allCases.flatMap { job.inputs[$0] }.filter { $0.map != nil || $0.record != nil })
    let digests = Set(
      inputs.map { input in
        let name = input.map.map { MapName.isFile($0) ? PathText.shown($0, from: job.directory) : $0 } ?? "own"
        // The faults of the map are reported when the inputs are read.
        let maps = try? JobMaps(names: input.map.map { [$0] } ?? [])
        return MapDigest(
          name: input.record.map { "\(name) of '\($0)'" } ?? name, text: maps?[input]?.identity ?? "unreadable")
      })
    return digests.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
