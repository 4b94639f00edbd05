package import BatchFoundation

/// A file that a run reads, once per input kind.
package struct InputFile: Sendable, Equatable {
  package var path: FilePath
  package var kind: InputKind
  /// Bytes on disk, compressed or not, when the list was made.
  package var size: UInt64

  package init(path: FilePath, kind: InputKind, size: UInt64, isPipe: Bool = false) {
    self.path = path
    self.kind = kind
    self.size = size
    self.isPipe = isPipe
  }

  /// A pipe, or standard input that is one: its size is not known and it can be read once only.
  package var isPipe: Bool

  /// Of a file whose bytes come through standard input, under its name: how much of it has to come; nil where it is opened itself.
  package var handedOver: InputLength?

  /// Of a file that was written for this run alone: the lines it is made of.
  package var copied: CopiedLines?

  /// What makes lines of its foreign records; nil for a file of lines of the project's own shape.
  package var map: InputMap?

  /// The path under which people know its lines.
  package var original: String { copied?.file ?? path.description }

  var isCompressed: Bool { path.bytes.suffix(3).elementsEqual(".gz".utf8) }
}

/// How long a file is, by whoever hands it over: so that a stream that was cut is no end.
package struct InputLength: Sendable, Equatable {
  /// Compressed or not, as the file is stored; nil where nobody knows.
  package var bytes: UInt64?
  /// Blank ones, too; nil where nobody knows.
  package var lines: UInt64?
  /// Of a range of a file, what comes before it, in bytes and in lines.
  package var bytesBefore: UInt64 = 0
  package var linesBefore: UInt64 = 0
  /// Whether another file comes behind it, so that it ends with its bytes.
  package var isFollowed = false

  package init(bytes: UInt64?, lines: UInt64?) {
    self.bytes = bytes
    self.lines = lines
  }
}

/// Lines of a file that were written to another, one behind the other.
package struct CopiedLines: Sendable, Equatable {
  /// The path of the file.
  package var file: String
  /// The number of each line in it.
  package var lines: [UInt64]
  /// Lines of the copy before the first of them.
  package var skipped: UInt64

  package init(file: String, lines: [UInt64], skipped: UInt64) {
    self.file = file
    self.lines = lines
    self.skipped = skipped
  }

  func line(_ copy: UInt64) -> UInt64 {
    guard copy > skipped, copy - skipped <= UInt64(lines.count) else { return 0 }
    return lines[Int(copy - skipped) - 1]
  }
}

/// The files of a run, in the order in which their records count: bytes of the absolute path, then input kind.
///
/// `RecordPosition/file` is an index into ``files``.
package struct InputFiles: Sendable {
  package var files: [InputFile] = []
  /// Of each file, its number among those of the store, or from 1 where nothing is kept.
  package var numbers: [UInt32] = []
  /// What is read in place of the files, whose lines it has some of; nil where the files are read.
  package var part: InputPart?
  /// Whether some file has ``InputFile/copied``.
  package var holdsCopies = false
  /// What the user should know: patterns that matched nothing, and things met that are not files.
  package var warnings: [InputWarning] = []
  /// Inputs that have to have so many lines.
  var minima: [LineMinimum] = []

  /// Nothing to read.
  package static let none = InputFiles()

  /// Where a record was read; nil for one of no file.
  package func source(of position: RecordPosition) -> RecordSource? {
    if let kept = position.keptSource { return source(of: kept) }
    guard position.file < files.count else { return nil }
    return RecordSource(file: files[Int(position.file)].original, line: originalLine(of: position))
  }

  /// The same in the numbers of the store.
  @inline(__always)
  package func storedSource(of position: RecordPosition) -> StoredSource {
    guard position.file < numbers.count else { return position.keptSource ?? .unknown }
    return StoredSource(file: numbers[Int(position.file)], line: originalLine(of: position))
  }

  /// What ``storedSource(of:)`` told; nil for files of earlier runs.
  package func source(of stored: StoredSource) -> RecordSource? {
    guard let place = numbers.firstIndex(of: stored.file) else { return nil }
    return RecordSource(file: files[place].original, line: stored.line)
  }

  @inline(__always)
  private func originalLine(of position: RecordPosition) -> UInt64 {
    holdsCopies ? files[Int(position.file)].copied?.line(position.line) ?? position.line : position.line
  }

  /// Without pipes, of which nobody knows it. It is added up anew each time, and there may be 100,000 files.
  package var totalSize: UInt64 { part?.size ?? files.reduce(0) { $0 + $1.size } }

  /// The first pipe; nil where all are files.
  package var pipe: InputFile? { files.first(where: \.isPipe) }

  /// Finds the files that the patterns of a job stand for and makes sure that each can be read.
  ///
  /// A relative pattern is relative to `folder`. `*` and `?` match within one name and never a `.` or `_` that it begins with, `**` as a
  /// whole name matches any number of folders; all other characters stand for themselves. A folder, named or matched, stands for all files
  /// below it but those whose names, or whose folders' names, begin so. A file that several paths lead to is read once, by the first of them. A pipe has to be named itself.
  ///
  /// - Parameters:
  ///   - allowsMissing: whether inputs that are required may have no files, or too few lines.
  ///   - isOfJob: false where somebody named the files on the command line.
  /// - Throws: ``InputError``.
  package static func find(
    _ inputs: [InputPattern], in folder: String, allowsMissing: Bool = false, isOfJob: Bool = true
  ) throws -> InputFiles {
    var result = InputFiles()
    var missing: [MissingInput] = []
    var folders: [String] = []
    var passedOver: Set<FilePath> = []
    for kind in InputKind.allCases {
      var found: [InputFile] = []
      for group in inputs.filter({ $0.kind == kind }).byMap {
        var search = FileSearch()
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

  /// What was passed over, and why.
  static func words(passedOver paths: [String]) -> String {
    let others = paths.count > 3 ? ", …" : ""
    let names =
      paths.count == 1
      ? "'\(paths[0].printable)' was passed over: its name begins"
      : "\(paths.count.grouped) names were passed over (\(paths.prefix(3).map { "'\($0.printable)'" }.joined(separator: ", "))\(others)): they begin"
    return "\(names) with '_' or '.', and no pattern writes it so"
  }

  package var description: String {
    switch self {
    case .passedOver(let paths): "warning: \(Self.words(passedOver: paths))"
    case .noMatch(let missing): "warning: \(missing)"
    case .notAFile(let path): "\(path.printable): warning: neither a file nor a folder, skipped"
    }
  }
}
