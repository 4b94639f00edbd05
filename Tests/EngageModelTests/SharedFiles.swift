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
}

/// A small generator (SplitMix64) whose numbers are the same on every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
