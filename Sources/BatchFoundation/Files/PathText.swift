import Glibc

public enum PathText {
  /// Returns the folder that contains the path's last component; `.` for a bare name.
  public static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  public static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// Follows the symbolic links at the end of the path, even if their target does not exist. Logs and drafts must be
  /// written next to the file itself, not next to a link to it.
  ///
  /// - Throws: the system's error number; `ELOOP` after 40 links.
  public static func resolvingLinks(_ path: String) throws(SystemError) -> String {
    var path = path
    var target = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
    for _ in 0..<40 {
      var status = stat()
      guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return path }
      let count = unsafe readlink(path, &target, Int(PATH_MAX))
      guard count > 0 else { throw SystemError(count < 0 ? errno : ENOENT) }
      let text = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      path = text.utf8.first == UInt8(ascii: "/") ? text : "\(folder(of: path))/\(text)"
    }
    throw SystemError(ELOOP)
  }

  /// Returns the name as a path component, with `-` for every byte other than ASCII letters, digits, `.`, `_` and `-`.
  public static func component(_ name: String) -> String {
    let bytes = name.utf8.map { $0.isASCIILetterOrDigit || "._".utf8.contains($0) ? $0 : UInt8(ascii: "-") }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Resolves the path against `directory`, removing `.`, `..` and double slashes textually.
  ///
  /// Links are not followed: `configs/../jobs` is `jobs` even if `configs` is a link, as it may be in mounted
  /// folders.
  public static func resolve(_ path: String, in directory: String) -> String {
    normalized(path.utf8.first == UInt8(ascii: "/") ? path : directory + "/" + path)
  }

  public static func normalized(_ path: String) -> String {
    let joined = String(decoding: Array(names(of: path).joined(separator: "/".utf8)), as: UTF8.self)
    return path.utf8.first == UInt8(ascii: "/") ? "/" + joined : joined.isEmpty ? "." : joined
  }

  /// Returns the names in the normalized path.
  package static func names(of path: String) -> [[UInt8]] {
    let isAbsolute = path.utf8.first == UInt8(ascii: "/")
    let (this, above) = (Array(".".utf8), Array("..".utf8))
    var names: [[UInt8]] = []
    for name in path.utf8.split(separator: UInt8(ascii: "/")).map(Array.init) where name != this {
      if name != above {
        names.append(name)
      } else if let last = names.last, last != above {
        names.removeLast()
      } else if !isAbsolute {
        names.append(name)
      }
    }
    return names
  }

  /// Returns the path as messages show it: relative if it is below `directory`.
  public static func shown(_ path: String, from directory: String) -> String {
    let base = directory == "/" ? "/" : directory + "/"
    return path.utf8.starts(with: base.utf8) && path.utf8.count > base.utf8.count
      ? String(path.dropFirst(base.count)) : path
  }

  /// Returns the path relative to `folder`; both must be absolute.
  public static func relative(_ path: String, to folder: String) -> String {
    let parts = path.split(separator: "/")
    let base = folder.split(separator: "/")
    let common = zip(parts, base).prefix { $0 == $1 }.count
    return (base.dropFirst(common).map { _ in ".." } + parts.dropFirst(common)).joined(separator: "/")
  }

  /// Returns the path without the last component's extension. A name whose only dot is its first character has none.
  public static func withoutExtension(_ path: String) -> String {
    let bytes = path.utf8
    let start = bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes.index(after: $0) } ?? bytes.startIndex
    guard let dot = bytes[start...].lastIndex(of: UInt8(ascii: ".")), dot > start else { return path }
    return String(path[..<dot])
  }
}
