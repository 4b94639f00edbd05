import BatchFoundation
import Glibc

/// The search for the files of one input kind, pattern by pattern.
struct FileSearch {
  private(set) var found: Set<FilePath> = []
  /// Sockets, devices and dangling links that were reached through a wildcard or a folder rather than named explicitly.
  private(set) var skipped: [FilePath] = []
  /// Files and folders that would match if their names did not begin with `_` or `.`.
  private(set) var passedOver: Set<FilePath> = []
  /// The storage in which addresses are looked up; nil if all patterns are paths.
  private let storage: (any RemoteStorage)?
  /// The files found at addresses.
  private var remote: [FilePath: RemoteFile] = [:]
  /// The folders already searched, each with the numbers of names in the pattern that were still to be matched. Links
  /// can create more paths to a folder than could ever be followed.
  private var searched: [FileStatus.Identity: Set<Int>] = [:]

  init(storage: (any RemoteStorage)? = nil) { self.storage = storage }

  /// Adds the files that a pattern matches.
  ///
  /// - Returns: whether the pattern matched anything.
  /// - Throws: ``InputError``, or an error from the storage.
  mutating func add(_ pattern: String, in folder: String) throws -> Bool {
    if let address = RemoteAddress(pattern) { return try add(address, pattern) }
    let names = PathText.names(of: PathText.resolve(pattern, in: folder))
    let countBefore = found.count
    let hasWildcard = names.contains { NamePattern($0).hasWildcard }
    var matched = false
    searched = [:]
    try walk(root, names[...], isNamed: !hasWildcard, &matched)
    return matched || found.count > countBefore
  }

  private mutating func add(_ address: RemoteAddress, _ pattern: String) throws -> Bool {
    var matched = false
    guard let storage else { throw InputError.notOnDisk(path: pattern) }
    for file in try storage.files(for: address, pattern) {
      let path = FilePath(file.address)
      if !address.isBucket || InputPattern.finds(file.address, by: pattern) {
        matched = true
        found.insert(path)
        remote[path] = file
      } else if InputPattern.finds(file.address, by: pattern, hidden: true) {
        passedOver.insert(path)
      }
    }
    return matched
  }

  /// Returns whether a folder exists at exactly this path.
  static func isFolder(_ pattern: String, in folder: String) -> Bool {
    guard RemoteAddress(pattern) == nil else { return false }
    return FilePath(PathText.resolve(pattern, in: folder)).isFolder
  }

  /// Returns the files found, ordered by path, each file on disk once.
  ///
  /// - Throws: ``InputError/unreadable(path:code:)``, ``InputError/foreign(path:_:)``.
  func files(_ kind: InputKind) throws -> [InputFile] {
    var seen: Set<FileStatus.Identity> = []
    var files: [InputFile] = []
    for path in found.sorted() {
      // A remote file's first bytes are checked when it is read, because checking them here would take a request.
      if let file = remote[path] {
        files.append(InputFile(file, kind))
        continue
      }
      var form: FileForm?
      do throws(SystemError) {
        // If the pipe were opened here, its writer would believe that the reader has arrived. Opening reports errors.
        if let status = try? path.status(), status.kind == .pipe {
          files.append(InputFile(path: path, kind: kind, size: 0, isPipe: true))
          continue
        }
        let file = try OpenFile(path)
        guard seen.insert(file.status.identity).inserted else { continue }
        let found = InputFile(path: path, kind: kind, size: UInt64(max(0, file.status.size)))
        files.append(found)
        form = FileForm(of: file, isCompressed: found.isCompressed)
      } catch {
        throw InputError.unreadable(path: path.description, code: error.code)
      }
      if let form { throw InputError.foreign(path: path.description, form) }
    }
    return files
  }

  private var root: FilePath { FilePath(bytes: []) }

  /// Follows the rest of a pattern from `folder`, whose path has no trailing slash.
  private mutating func walk(
    _ folder: FilePath, _ names: ArraySlice<[UInt8]>, isNamed: Bool, _ matched: inout Bool
  ) throws {
    guard let name = names.first else { return try take(folder, isNamed: isNamed, &matched) }
    let rest = names.dropFirst()
    if name.elementsEqual("**".utf8) {
      guard try isNew(folder, names.count) else { return }
      try walk(folder, rest, isNamed: false, &matched)
      guard !rest.isEmpty else { return }
      for entry in try entries(folder) {
        let path = folder.appending(entry)
        guard path.isFolder, !passesOver(entry, path) else { continue }
        try walk(path, names, isNamed: false, &matched)
      }
      return
    }
    let pattern = NamePattern(name)
    guard pattern.hasWildcard else { return try walk(folder.appending(name), rest, isNamed: isNamed, &matched) }
    guard try isNew(folder, names.count) else { return }
    for entry in try entries(folder) where pattern.matches(entry, hidden: true) {
      let path = folder.appending(entry)
      if pattern.matches(entry) {
        try walk(path, rest, isNamed: false, &matched)
      } else if rest.isEmpty || path.isFolder {
        passedOver.insert(path)
      }
    }
  }

  /// Returns whether a name below a folder is hidden, and records its path if so.
  private mutating func passesOver(_ name: [UInt8], _ path: FilePath) -> Bool {
    guard NamePattern.isHidden(name) else { return false }
    passedOver.insert(path)
    return true
  }

  /// Adds the target of a completely matched pattern: a file, or all files below a folder.
  private mutating func take(_ path: FilePath, isNamed: Bool, _ matched: inout Bool) throws {
    guard let kind = try status(of: path)?.kind else {
      if !isNamed, path.isDanglingLink { skipped.append(path) }
      return
    }
    if kind == .file || kind == .pipe && isNamed {
      matched = true
      found.insert(path)
    } else if kind == .folder {
      guard try isNew(path, 0) else { return }
      for entry in try entries(path) {
        let entryPath = path.appending(entry)
        if !passesOver(entry, entryPath) { try take(entryPath, isNamed: false, &matched) }
      }
    } else if isNamed {
      throw InputError.notAFile(path: path.description)
    } else {
      skipped.append(path)
    }
  }

  /// Records that a folder has been searched for the rest of the pattern; returns false if it already had been or is
  /// not a folder.
  private mutating func isNew(_ folder: FilePath, _ names: Int) throws -> Bool {
    guard let status = try status(of: folder), status.kind == .folder else { return false }
    return searched[status.identity, default: []].insert(names).inserted
  }

  private func status(of path: FilePath) throws -> FileStatus? {
    do {
      return try path.orRoot.status()
    } catch {
      throw InputError.unreadable(path: path.description, code: error.code)
    }
  }

  /// Returns the names in a folder, sorted by the paths that lead through them. A file reached through several links
  /// then gets the first of its paths, regardless of the order on disk.
  private func entries(_ folder: FilePath) throws -> [[UInt8]] {
    let (listing, code) = unsafe folder.orRoot.withCString { path in unsafe (opendir(path), errno) }
    guard let listing = unsafe listing else { throw InputError.unreadable(path: folder.orRoot.description, code: code) }
    defer { unsafe closedir(listing) }
    var names: [[UInt8]] = []
    while let entry = unsafe readdir(listing) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if !name.elementsEqual(".".utf8), !name.elementsEqual("..".utf8) { names.append(name) }
    }
    let slash = UInt8(ascii: "/")
    return names.sorted { ($0 + [slash]).lexicographicallyPrecedes($1 + [slash]) }
  }
}

extension FilePath {
  fileprivate func appending(_ name: [UInt8]) -> FilePath { FilePath(bytes: bytes + [UInt8(ascii: "/")] + name) }

  fileprivate var orRoot: FilePath { bytes.isEmpty ? FilePath("/") : self }

  /// Whether the path leads to a folder; false if that is unknown.
  fileprivate var isFolder: Bool { (try? status())?.kind == .folder }

  fileprivate var isDanglingLink: Bool {
    var status = stat()
    return unsafe withCString { unsafe lstat($0, &status) } == 0
  }
}

/// One name in a pattern: `*` matches any bytes, `?` one character, and everything else matches itself.
struct NamePattern {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var hasWildcard: Bool { bytes.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") } }

  /// Returns whether a name has a prefix that Spark, Hive and shells reserve.
  static func isHidden(_ name: [UInt8]) -> Bool { name.first == UInt8(ascii: ".") || name.first == UInt8(ascii: "_") }

  /// Returns whether the pattern matches a name. With a single backtracking point, the time is bounded by the product
  /// of the lengths, however many stars there are.
  ///
  /// - Parameter hidden: whether a wildcard may match a leading `_` or `.`.
  func matches(_ name: [UInt8], hidden: Bool = false) -> Bool {
    if !hidden, Self.isHidden(name), bytes.first != name.first { return false }
    var (at, from) = (0, 0)
    var star: (pattern: Int, name: Int)?
    while from < name.count {
      if at < bytes.count, bytes[at] == UInt8(ascii: "*") {
        star = (at + 1, from)
        at += 1
      } else if at < bytes.count, bytes[at] == UInt8(ascii: "?") {
        at += 1
        from = Self.characterEnd(name, from)
      } else if at < bytes.count, bytes[at] == name[from] {
        at += 1
        from += 1
      } else if let back = star {
        star = (back.pattern, back.name + 1)
        (at, from) = (back.pattern, back.name + 1)
      } else {
        return false
      }
    }
    return bytes[at...].allSatisfy { $0 == UInt8(ascii: "*") }
  }

  private static func characterEnd(_ name: [UInt8], _ start: Int) -> Int {
    var at = start + 1
    while at < name.count, name[at] & 0xC0 == 0x80 { at += 1 }
    return at
  }
}
