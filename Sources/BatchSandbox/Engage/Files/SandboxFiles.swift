import Glibc

/// The folders `upload` and `download` that the service offers over SFTP, in memory or below a local folder.
struct SandboxFiles: Sendable {
  enum Area: String, Sendable, CaseIterable { case upload, download }

  /// nil keeps files in memory.
  private(set) var folder: String?
  private var contents: [Area: [String: [UInt8]]] = [:]

  init() {}

  init(folder: String?) throws(SandboxFileError) {
    self.folder = folder
    guard let folder else { return }
    for path in [folder] + Area.allCases.map({ "\(folder)/\($0.rawValue)" }) {
      if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
        throw SandboxFileError(operation: "mkdir", path: path, code: errno)
      }
    }
  }

  /// A name without a path; nil for anything that could leave the folder.
  static func plainName(_ text: String) -> String? {
    let name = text.split(separator: "/", omittingEmptySubsequences: true).last.map(String.init) ?? ""
    return name.isEmpty || name.hasPrefix(".") || name.utf8.contains(0) ? nil : name
  }

  func read(_ area: Area, _ name: String) -> [UInt8]? {
    guard let name = Self.plainName(name) else { return nil }
    guard let folder else { return contents[area]?[name] }
    return readFile("\(folder)/\(area.rawValue)/\(name)")
  }

  mutating func write(_ area: Area, _ name: String, _ bytes: [UInt8]) throws(SandboxFileError) {
    guard let name = Self.plainName(name) else { throw SandboxFileError(operation: "name", path: name, code: EINVAL) }
    guard let folder else {
      contents[area, default: [:]][name] = bytes
      return
    }
    try writeFileAtomically("\(folder)/\(area.rawValue)/\(name)", bytes)
  }
}
