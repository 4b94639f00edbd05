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
      if mkdir(path, 0o700) != 0, errno != EEXIST {
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

/// A file operation that failed.
package struct SandboxFileError: Error, Sendable, Equatable, CustomStringConvertible {
  package var operation: String
  package var path: String
  /// `errno`.
  package var code: Int32

  package var description: String { "\(path): error: \(operation): \(String(cString: strerror(code)))" }
}

/// The bytes of the file, or nil if there is none.
func readFile(_ path: String) -> [UInt8]? {
  // A file that is there but cannot be read counts as missing: the service knows only files that it can serve.
  try? contents(of: path)
}

/// nil for a file that does not exist; one that cannot be read is an error.
func contentsIfPresent(of path: String) throws(SandboxFileError) -> [UInt8]? {
  if access(path, F_OK) != 0, errno == ENOENT { return nil }
  return try contents(of: path)
}

func contents(of path: String) throws(SandboxFileError) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw SandboxFileError(operation: "open", path: path, code: errno) }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var block = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(descriptor, &block, block.count)
    if count < 0, errno == EINTR { continue }
    if count < 0 { throw SandboxFileError(operation: "read", path: path, code: errno) }
    if count == 0 { return bytes }
    bytes.append(contentsOf: block[..<count])
  }
}

/// Writes a file of mode 0600 beside the old one, syncs it, and puts it in its place.
func writeFileAtomically(_ path: String, _ bytes: [UInt8]) throws(SandboxFileError) {
  let temporary = "\(path).new"
  let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw SandboxFileError(operation: "open", path: temporary, code: errno) }
  do {
    defer { close(descriptor) }
    try writeAll(descriptor, bytes, path: temporary)
    if fsync(descriptor) != 0 { throw SandboxFileError(operation: "fsync", path: temporary, code: errno) }
  }
  if rename(temporary, path) != 0 { throw SandboxFileError(operation: "rename", path: path, code: errno) }
}

func writeAll(_ descriptor: Int32, _ bytes: [UInt8], path: String) throws(SandboxFileError) {
  var offset = 0
  while offset < bytes.count {
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress.map { $0 + offset }, $0.count - offset) }
    if count < 0, errno == EINTR { continue }
    if count < 0 { throw SandboxFileError(operation: "write", path: path, code: errno) }
    offset += count
  }
}
