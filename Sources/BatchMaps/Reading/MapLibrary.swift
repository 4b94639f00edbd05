package import BatchConfiguration
package import BatchFoundation
import CEmbedded

/// Loads maps (presets or files) by name (reference formats 6.1).
package struct MapLibrary {
  private let zones: ZoneDatabase
  /// The folder to which paths in messages are relative.
  private let folder: String

  /// The maximum depth of included maps; this limit also ends cycles.
  private static let deepest = 8

  package init(environment: [String: String], currentDirectory: String) {
    zones = ZoneDatabase(environment: environment)
    folder = currentDirectory
  }

  /// Returns a hint about an unknown preset name.
  package static func hint(about name: String) -> String {
    let names = Preset.all.map(\.name)
    let near = NearestName.question(about: name, among: names) ?? "known presets are \(names.joined(separator: ", "));"
    return "\(near) the name of a file must contain a dot or a slash, such as './\(name.printable)'"
  }

  /// - Parameter name: the name of a preset, or the absolute path of a file.
  /// - Returns: the map and its warnings.
  /// - Throws: all faults in the map and in the maps that it includes.
  package func load(_ name: String) throws(ConfigurationErrors) -> (map: ForeignMap, warnings: [ConfigurationFault]) {
    var faults: [ConfigurationFault] = []
    let map = load(name, &faults, depth: 0)
    let errors = faults.filter { $0.severity == .error }
    guard let map, errors.isEmpty else { throw ConfigurationErrors(faults) }
    return (map, faults)
  }

  /// Returns the paths of a map's files: its own file and those of the maps that it includes. Presets have no files.
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
        reader.found.add(include.field.place, "included maps are nested more than \(Self.deepest) levels deep")
        break
      }
      let directory = PathText.folder(of: name)
      let other =
        MapName.isFile(include.text) ? PathText.resolve(include.text, in: directory) : include.text
      if let included = load(other, &faults, depth: depth + 1, read) {
        reader.include(included, at: include.field.place)
        digests += included.digest
      }
    }
    // Warnings about presets are not reported.
    faults += reader.faults.filter { isFile || $0.severity == .error }
    var map = reader.map
    map.digest = Hexadecimal.text(of: SHA256.hash(digests).prefix(8))
    return map
  }
}

/// A built-in map for a vendor's export (`docs/maps.md`), from `configs/maps`.
package struct Preset: Sendable {
  package let name: String
  package let text: String

  /// The name of the vendor, taken from the beginning of the preset's description.
  package var vendor: String {
    let member = "\"description\": \""
    guard let start = text.firstRange(of: member)?.upperBound else { return name }
    return String(text[start...].prefix { $0 != ":" && $0 != "\"" })
  }

  /// Whether the preset defines how files are split into records.
  var hasForm: Bool { text.contains("\"form\":") }

  /// All presets, in the order in which messages list them.
  package static let all = unsafe UnsafeBufferPointer(start: engage_presets(), count: Int(engage_preset_count())).map {
    unsafe Preset(name: String(cString: $0.name), text: String(cString: $0.text))
  }

  package static func named(_ name: String) -> Preset? { all.first { $0.name.utf8.elementsEqual(name.utf8) } }
}
