package import FoundationEssentials

/// A folder of its own for one test; gone with the value.
package final class TemporaryFolder: Sendable {
  package let url: URL
  package var path: String { url.path }

  /// - Parameter files: their text by their path below the folder.
  package init(_ files: [String: String] = [:]) throws {
    url = FileManager.default.temporaryDirectory.appending(path: "engage-batch-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    for (name, text) in files { try write(name, text) }
  }

  deinit {
    // What cannot be removed is left to the system's temporary folder.
    try? FileManager.default.removeItem(at: url)
  }

  /// Writes a file, and the folders above it; an absolute path stays as it is.
  ///
  /// - Returns: its path.
  @discardableResult
  package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = name.hasPrefix("/") ? URL(filePath: name) : url.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
    return file.path
  }

  @discardableResult
  package func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  package func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self)
  }

  /// The names of the files directly in it, sorted.
  package func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}
