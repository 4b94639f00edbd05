package import BatchFoundation

/// A file that a run reads as input of one kind; a file of several kinds occurs once for each.
package struct InputFile: Sendable, Equatable {
  package var path: FilePath
  package var kind: InputKind
  /// The number of bytes on disk, compressed or not, when the file was found.
  package var size: UInt64

  package init(path: FilePath, kind: InputKind, size: UInt64, isPipe: Bool = false) {
    (self.path, self.kind, self.size, self.isPipe) = (path, kind, size, isPipe)
  }

  package init(_ remote: RemoteFile, _ kind: InputKind) {
    self.init(path: FilePath(remote.address), kind: kind, size: remote.size)
    self.remote = remote
  }

  /// The file at an address; nil for a file on disk.
  package var remote: RemoteFile?

  /// Whether the file is a pipe, possibly standard input: its size is unknown, and it can be read only once.
  package var isPipe: Bool

  /// The expected length if the file's bytes come through standard input; nil if the file itself is opened.
  package var handedOver: InputLength?

  /// The origin of the lines if the file is a copy that was written for this run; otherwise nil.
  package var copied: CopiedLines?

  /// The map that turns the file's foreign records into lines; nil for a file in the project's own format.
  package var map: InputMap?

  /// The path by which users know the file's lines.
  package var original: String { copied?.file ?? path.description }

  var isCompressed: Bool { path.bytes.suffix(3).elementsEqual(".gz".utf8) }
}

/// The length of a file as declared by the sender, so that a truncated stream is not mistaken for a whole file.
package struct InputLength: Sendable, Equatable {
  /// The number of bytes as stored, compressed or not; nil if unknown.
  package var bytes: UInt64?
  /// The number of lines, including blank ones; nil if unknown.
  package var lines: UInt64?
  /// For a range of a file, the numbers of bytes and lines before it.
  package var bytesBefore: UInt64 = 0
  package var linesBefore: UInt64 = 0
  /// Whether another file follows, so that this one ends after its bytes.
  package var isFollowed = false

  package init(bytes: UInt64?, lines: UInt64?) {
    (self.bytes, self.lines) = (bytes, lines)
  }
}

/// Lines of one file that were copied, one after another, to another file.
package struct CopiedLines: Sendable, Equatable {
  /// The path of the original file.
  package var file: String
  /// The number of each line in the original.
  package var lines: [UInt64]
  /// The number of lines of the copy that precede these lines.
  package var skipped: UInt64

  package init(file: String, lines: [UInt64], skipped: UInt64) {
    (self.file, self.lines, self.skipped) = (file, lines, skipped)
  }

  func line(_ copy: UInt64) -> UInt64 {
    guard copy > skipped, copy - skipped <= UInt64(lines.count) else { return 0 }
    return lines[Int(copy - skipped) - 1]
  }
}

/// The files of a run, sorted by the bytes of the absolute path and then by input kind, which is the order in which
/// records count.
///
/// `RecordPosition/file` is an index into ``files``.
package struct InputFiles: Sendable {
  package var files: [InputFile] = []
  /// The number of each file in the store; if nothing is stored, a number from 1.
  package var numbers: [UInt32] = []
  /// The part that is read instead of the files and contains some of their lines; nil if the files themselves are read.
  package var part: InputPart?
  /// Whether any file is a copy (``InputFile/copied``).
  package var holdsCopies = false
  /// Messages for the user: patterns that matched nothing, and matches that are not files.
  package var warnings: [InputWarning] = []
  var minima: [LineMinimum] = []

  package static let none = InputFiles()

  /// Returns the place where a record was read; nil if it has no file.
  package func source(of position: RecordPosition) -> RecordSource? {
    if let kept = position.keptSource { return source(of: kept) }
    guard position.file < files.count else { return nil }
    return RecordSource(file: files[Int(position.file)].original, line: originalLine(of: position))
  }

  /// Returns the place where a record was read, in the store's file numbers.
  @inline(__always)
  package func storedSource(of position: RecordPosition) -> StoredSource {
    guard position.file < numbers.count else { return position.keptSource ?? .unknown }
    return StoredSource(file: numbers[Int(position.file)], line: originalLine(of: position))
  }

  /// Returns the place for a result of ``storedSource(of:)``; nil if only earlier runs read its file.
  package func source(of stored: StoredSource) -> RecordSource? {
    guard let place = numbers.firstIndex(of: stored.file) else { return nil }
    return RecordSource(file: files[place].original, line: stored.line)
  }

  @inline(__always)
  private func originalLine(of position: RecordPosition) -> UInt64 {
    holdsCopies ? files[Int(position.file)].copied?.line(position.line) ?? position.line : position.line
  }

  /// The total size in bytes, without pipes. The sum is computed on each call, and there may be 100,000 files.
  package var totalSize: UInt64 { part?.size ?? files.reduce(0) { $0 + $1.size } }

  /// The first pipe; nil if there are no pipes.
  package var pipe: InputFile? { files.first(where: \.isPipe) }

  /// Finds the files that a job's patterns match and checks that each can be read.
  ///
  /// A relative pattern is relative to `folder`. `*` and `?` match within one name and never a leading `.` or `_`; `**`
  /// as a whole name matches any number of folders; all other characters match themselves. A folder, whether named or
  /// matched, means all files below it, except those where the name of the file or of a folder in between begins with
  /// `.` or `_`. A file reached by several paths is read once, by the first of them. A pipe must be named explicitly.
  ///
  /// - Parameters:
  ///   - storage: the storage in which addresses are looked up; nil if no pattern is an address.
  ///   - allowsMissing: whether required inputs may have no files or too few lines.
  ///   - isOfJob: false if the files were named on the command line.
  /// - Throws: ``InputError``, or an error from the storage.
  package static func find(
    _ inputs: [InputPattern], in folder: String, storage: (any RemoteStorage)? = nil, allowsMissing: Bool = false,
    isOfJob: Bool = true
  ) throws -> InputFiles {
    var result = InputFiles()
    var missing: [MissingInput] = []
    var folders: [String] = []
    var passedOver: Set<FilePath> = []
    for kind in InputKind.allCases {
      var found: [InputFile] = []
      for group in inputs.filter({ $0.kind == kind }).byMap {
        if group.first?.map?.map.opensFiles ?? false,
          let address = group.flatMap(\.input.patterns).first(where: { RemoteAddress($0) != nil })
        {
          throw InputError.notOnDisk(path: address)
        }
        var search = FileSearch(storage: storage)
        for input in group {
          let unmatched = try input.paths.filter { try !search.add($0.pattern, in: folder) }
          guard !unmatched.isEmpty else { continue }
          let isFolder = unmatched.allSatisfy { FileSearch.isFolder($0.pattern, in: folder) }
          if isFolder { folders.append(input.input.path) }
          let absent = MissingInput(input: input.name, days: unmatched.compactMap(\.day), isFolder: isFolder)
          if input.input.isRequired, !allowsMissing {
            missing.append(absent)
          } else {
            result.warnings.append(.noMatch(absent))
          }
        }
        result.warnings += search.skipped.map { .notAFile(path: $0.description) }
        passedOver.formUnion(search.passedOver)
        for var file in try search.files(kind) {
          file.map = group.first?.map
          found.append(file)
        }
      }
      let twice = Dictionary(grouping: found, by: \.path).filter { $0.value.count > 1 }.keys.min()
      if let twice { throw InputError.severalMaps(path: twice.description) }
      result.files += found
    }
    let hidden = passedOver.subtracting(result.files.map(\.path)).sorted().map(\.description)
    guard missing.isEmpty else { throw InputError.missing(missing, passedOver: hidden) }
    guard !result.files.isEmpty else {
      throw InputError.noInput(
        patterns: inputs.map(\.input.path), days: Set(inputs.flatMap { $0.paths.compactMap(\.day) }).sorted(),
        folders: folders, passedOver: hidden, isOfJob: isOfJob)
    }
    if !hidden.isEmpty { result.warnings.append(.passedOver(hidden)) }
    let pipes = Dictionary(grouping: result.files.filter(\.isPipe), by: \.path)
    if let twice = pipes.first(where: { $0.value.count > 1 }) {
      throw InputError.pipeTwice(path: twice.key.description)
    }
    result.files.sort { $0.path != $1.path ? $0.path < $1.path : $0.kind < $1.kind }
    if !allowsMissing {
      result.minima = try inputs.filter { $0.input.minRecords ?? 0 > 0 }.map {
        try LineMinimum($0, among: result.files, in: folder)
      }
    }
    return result
  }
}

package enum InputWarning: Sendable, Equatable, CustomStringConvertible {
  case noMatch(MissingInput)
  case notAFile(path: String)
  /// Names that begin with `_` or `.`.
  case passedOver([String])

  static func words(passedOver paths: [String]) -> String {
    let others = paths.count > 3 ? ", …" : ""
    let names =
      paths.count == 1
      ? "skipped '\(paths[0].printable)', whose name begins"
      : "skipped \(paths.count.grouped) names (\(paths.prefix(3).map { "'\($0.printable)'" }.joined(separator: ", "))\(others)), which begin"
    return "\(names) with '_' or '.'; to include such names, spell out that character in the pattern"
  }

  package var description: String {
    switch self {
    case .passedOver(let paths): "warning: \(Self.words(passedOver: paths))"
    case .noMatch(let missing): "warning: \(missing)"
    case .notAFile(let path): "\(path.printable): warning: neither a file nor a folder, skipped"
    }
  }
}
