import BatchJSON
import FoundationEssentials

/// The test data that lies beside the checkout, or where `ENGAGE_SHARED` says.
enum SharedFiles {
  static func url(_ path: String) -> URL {
    if let folder = ProcessInfo.processInfo.environment["ENGAGE_SHARED"] {
      return URL(filePath: folder).appending(path: path)
    }
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      folder.deleteLastPathComponent()
    }
    return folder.appending(path: "../shared").appending(path: path)
  }

  static func json(_ path: String) throws -> JSONNode {
    try JSONNode.parse(Array(Data(contentsOf: url(path))))
  }
}
