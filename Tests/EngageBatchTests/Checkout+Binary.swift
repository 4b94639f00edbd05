import FoundationEssentials
import TestSupport

extension Checkout {
  /// The executable: what `ENGAGE_BINARY` names, else the one that was built with the tests.
  static let binary: String = {
    if let named = ProcessInfo.processInfo.environment["ENGAGE_BINARY"] { return named }
    let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "engage-batch").path
    return FileManager.default.isExecutableFile(atPath: built)
      ? built : root.appending(path: ".build/debug/engage-batch").path
  }()
}
