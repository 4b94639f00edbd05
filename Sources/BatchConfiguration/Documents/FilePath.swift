/// Paths as text: settings and jobs name files relative to the file that names them.
package enum FilePath {
  /// The path seen from `directory`, with `.`, `..` and double slashes taken out by spelling alone.
  ///
  /// Links are not looked at: `configs/../jobs` is `jobs` also where `configs` is a link, as people expect who mount folders.
  package static func resolve(_ path: String, in directory: String) -> String {
    normalized(path.utf8.first == UInt8(ascii: "/") ? path : directory + "/" + path)
  }

  /// Everything before the last component; `.` for a bare name.
  package static func directory(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
  }

  /// The path without what follows the last dot of its last component; a name that begins with its only dot has no extension.
  package static func withoutExtension(_ path: String) -> String {
    let bytes = path.utf8
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes.index(after: $0) } ?? bytes.startIndex
    guard let dot = bytes[start...].lastIndex(of: UInt8(ascii: ".")), dot > start else { return path }
    return String(path[..<dot])
  }

  package static func normalized(_ path: String) -> String {
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part != ".." {
        parts.append(part)
      } else if let last = parts.last, last != ".." {
        parts.removeLast()
      } else if !isAbsolute {
        parts.append(part)
      }
    }
    let joined = parts.joined(separator: "/")
    return isAbsolute ? "/" + joined : joined.isEmpty ? "." : joined
  }

  /// The path as a message shows it: relative where it lies below `directory`.
  package static func shown(_ path: String, from directory: String) -> String {
    let base = directory == "/" ? "/" : directory + "/"
    return path.utf8.starts(with: base.utf8) && path.utf8.count > base.utf8.count
      ? String(path.dropFirst(base.count)) : path
  }
}
