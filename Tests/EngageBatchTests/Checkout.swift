import FoundationEssentials

/// The checkout that these tests belong to.
enum Checkout {
  static let root: URL = {
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
      folder.deleteLastPathComponent()
    }
    return folder
  }()

  /// The executable: what `ENGAGE_BINARY` names, else the one that was built with the tests.
  static let binary: String = {
    if let named = ProcessInfo.processInfo.environment["ENGAGE_BINARY"] { return named }
    let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "engage-batch").path
    return FileManager.default.isExecutableFile(atPath: built)
      ? built : root.appending(path: ".build/debug/engage-batch").path
  }()

  /// The names of the files directly in a folder of the checkout, sorted.
  static func names(in folder: String) -> [String] {
    // A folder that cannot be read has no names, and the tests that want some say so.
    let found = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
    return found.sorted()
  }
}
