package import FoundationEssentials

/// The checkout that the tests belong to. Nothing outside it is read.
package enum Checkout {
  package static let root: URL = {
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      folder.deleteLastPathComponent()
    }
    return folder
  }()

  package static func url(_ path: String) -> URL { root.appending(path: path) }

  package static func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: url(path))) }

  package static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

  /// The names of the files directly in a folder of the checkout, sorted.
  ///
  /// - Throws: ``MissingTestData`` when there are none, so that a test over them does not pass by running nothing.
  package static func names(in folder: String) throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: url(folder).path).sorted()
    guard !names.isEmpty else { throw MissingTestData("\(folder) is empty") }
    return names
  }

  /// The paths of all files below a folder of the checkout, relative to the checkout and sorted.
  ///
  /// - Throws: ``MissingTestData`` when there are none.
  package static func files(below folder: String) throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: url(folder).path)
    var isFolder: Bool = false
    let files = paths.filter { path in
      FileManager.default.fileExists(atPath: url("\(folder)/\(path)").path, isDirectory: &isFolder) && !isFolder
    }
    guard !files.isEmpty else { throw MissingTestData("nothing is below \(folder)") }
    return files.map { "\(folder)/\($0)" }.sorted()
  }
}

/// Data that a test asked for is not there; the test fails instead of running no case.
package struct MissingTestData: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}
