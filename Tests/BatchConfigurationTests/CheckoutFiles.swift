import BatchConfiguration
import FoundationEssentials

/// Files of the checkout, of the shared test data, and of a folder of its own for each test.
enum CheckoutFiles {
  static var root: URL {
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      folder.deleteLastPathComponent()
    }
    return folder
  }

  static func shared(_ path: String) -> URL {
    if let folder = ProcessInfo.processInfo.environment["ENGAGE_SHARED"] {
      return URL(filePath: folder).appending(path: path)
    }
    return root.appending(path: "../shared").appending(path: path)
  }

  static func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }
}

/// A folder with files of a test's choice; gone with the value.
final class TemporaryFolder {
  let path: String

  init(_ files: [String: String] = [:]) throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "engage-configuration-\(UUID().uuidString)")
    path = url.path
    for (name, text) in files { try write(name, text) }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    let file = FilePath.resolve(name, in: path)
    try FileManager.default.createDirectory(
      atPath: FilePath.directory(of: file), withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: file))
  }

  func loader(_ environment: [String: String] = [:]) -> ConfigurationLoader {
    ConfigurationLoader(environment: environment, currentDirectory: path)
  }

  /// The lines that a file's faults make, or none when it is accepted.
  func faults(of file: String, _ overrides: [SettingOverride] = []) -> [String] {
    do {
      return try loader().load(files: [file], CommandLineChanges(settings: overrides)).warnings.map(\.description)
    } catch {
      return error.faults.map(\.description)
    }
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      // Left for the system's own cleaning.
    }
  }
}
