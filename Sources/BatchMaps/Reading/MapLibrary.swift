package import BatchConfiguration
import BatchFoundation

/// Finds maps by their names: presets, and files (reference formats 6.1).
package struct MapLibrary {
  private let zones: ZoneDatabase
  /// What relative paths of messages start from.
  private let folder: String

  /// Maps that include each other deeper than this do so without end.
  private static let deepest = 8

  package init(environment: [String: String], currentDirectory: String) {
    zones = ZoneDatabase(environment: environment)
    folder = currentDirectory
  }

  /// What was perhaps meant by a name that no preset has.
  package static func hint(about name: String) -> String {
    let names = Preset.all.map(\.name)
    let near = NearestName.question(about: name, among: names) ?? "known are \(names.joined(separator: ", "));"
    return "\(near) a file has a dot or a slash in its name, such as './\(name.printable)'"
  }

  /// - Parameter name: of a preset, or the absolute path of a file.
  /// - Returns: the map, and warnings about it.
  /// - Throws: all that is wrong with it and the maps that it includes.
  package func load(_ name: String) throws(ConfigurationErrors) -> (map: ForeignMap, warnings: [ConfigurationFault]) {
    var faults: [ConfigurationFault] = []
    let map = load(name, &faults, depth: 0)
    let errors = faults.filter { $0.severity == .error }
    guard let map, errors.isEmpty else { throw ConfigurationErrors(faults) }
    return (map, faults)
  }

  /// The files that are read for a map: its own, and those of maps that it includes.
  package func files(of name: String) -> [String] {
    var files: [String] = []
    var faults: [ConfigurationFault] = []
    _ = load(name, &faults, depth: 0) { files.append($0) }
    return files
  }

  private func load(
    _ name: String, _ faults: inout [ConfigurationFault], depth: Int, _ read: (String) -> Void = { _ in }
  ) -> ForeignMap? {
    let isFile = MapName.isFile(name)
    if isFile { read(name) }
    let source = isFile ? PathText.shown(name, from: folder) : "map '\(name)'"
    let bytes: [UInt8]
    let document: JSONNode
    do {
      if isFile {
        bytes = try JSONNode.bytes(of: name, source: source)
      } else {
        guard let preset = Preset.named(name) else {
          faults.append(ConfigurationFault(Place(source), "there is no such preset", hint: Self.hint(about: name)))
          return nil
        }
        bytes = Array(preset.text.utf8)
      }
      document = try JSONNode.read(bytes, source: source)
    } catch {
      faults += error.faults
      return nil
    }
    var reader = MapReader(document, name: name, source: source, zones: zones)
    reader.endOwnRules()
    var digests = Hexadecimal.text(of: SHA256.hash(bytes))
    for include in reader.includes {
      guard depth < Self.deepest else {
        reader.fault(include.line, "maps include each other more than \(Self.deepest) deep")
        break
      }
      let directory = PathText.folder(of: name)
      let other =
        MapName.isFile(include.name) ? PathText.resolve(include.name, in: directory) : include.name
      if let included = load(other, &faults, depth: depth + 1, read) {
        reader.include(included, line: include.line)
        digests += included.digest
      }
    }
    // Warnings are about what people wrote.
    faults += reader.faults.filter { isFile || $0.severity == .error }
    var map = reader.map
    map.digest = Hexadecimal.text(of: SHA256.hash(digests).prefix(8))
    return map
  }
}
