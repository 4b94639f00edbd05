import BatchFoundation
import Glibc

/// The service's SFTP folders `upload` and `download`, in memory or below a local folder.
struct SandboxFiles: Sendable {
  enum Area: String, Sendable, CaseIterable { case upload, download }

  /// Nil keeps files in memory.
  private(set) var folder: String?
  private var contents: [Area: [String: [UInt8]]] = [:]

  init() {}

  init(folder: String?) throws(CommandError) {
    self.folder = folder
    guard let folder else { return }
    for path in [folder] + Area.allCases.map({ "\(folder)/\($0.rawValue)" }) {
      if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
        throw CommandError.cannot("create the folder", path, SystemError(errno))
      }
    }
  }

  /// Returns the name without a path; nil for anything that could lead out of the folder.
  static func plainName(_ text: String) -> String? {
    let name = text.split(separator: "/", omittingEmptySubsequences: true).last.map(String.init) ?? ""
    return name.isEmpty || name.hasPrefix(".") || name.utf8.contains(0) ? nil : name
  }

  func read(_ area: Area, _ name: String) -> [UInt8]? {
    guard let name = Self.plainName(name) else { return nil }
    guard let folder else { return contents[area]?[name] }
    // A file that cannot be read counts as missing: the service knows only files that it can serve.
    return try? BatchSandbox.contents(of: "\(folder)/\(area.rawValue)/\(name)")
  }

  mutating func write(_ area: Area, _ name: String, _ bytes: [UInt8]) throws(CommandError) {
    guard let name = Self.plainName(name) else {
      throw CommandError.cannot("write the file", name, SystemError(EINVAL))
    }
    guard let folder else {
      contents[area, default: [:]][name] = bytes
      return
    }
    try writeFileAtomically("\(folder)/\(area.rawValue)/\(name)", bytes)
  }
}

/// Rows of values separated by commas, tabs or pipes, and quoted where needed.
struct SeparatedText: Sendable {
  private(set) var bytes: [UInt8] = []
  private let separator: UInt8

  /// - Parameter format: `CSV`, `TAB` or `PIPE`.
  init(format: String) { separator = Self.separator(of: format) }

  private static func separator(of format: String) -> UInt8 {
    switch format {
    case "TAB": UInt8(ascii: "\t")
    case "PIPE": UInt8(ascii: "|")
    default: UInt8(ascii: ",")
    }
  }

  mutating func append(_ row: [ByteText]) {
    for (index, value) in row.enumerated() {
      if index > 0 { bytes.append(separator) }
      let field = value.string.utf8
      if field.contains(where: { $0 == separator || $0 == UInt8(ascii: "\"") || $0 == 10 || $0 == 13 }) {
        bytes.append(UInt8(ascii: "\""))
        for byte in field {
          if byte == UInt8(ascii: "\"") { bytes.append(byte) }
          bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
      } else {
        bytes.append(contentsOf: field)
      }
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Returns the rows of a file, without blank lines or a byte order mark.
  static func rows(_ bytes: [UInt8], format: String) -> [[ByteText]] {
    var rows: [[ByteText]] = []
    func add(_ row: RowReader.Row) {
      rows.append(row.fields.map { ByteText(String(decoding: $0 ?? [], as: UTF8.self)) })
    }
    var reader = RowReader(.plain(separator: separator(of: format)))
    reader.read(bytes, add)
    reader.finish(add)
    return rows
  }
}
