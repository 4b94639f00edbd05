import BatchConfiguration
import BatchFoundation
import BatchIngest
import FoundationEssentials

/// A list of an export's files, written by a process that can reach them for one that cannot (reference formats 5.5).
package struct FileList: Sendable {
  private struct Entry: Codable {
    var path: String
    var kind: String
    var bytes: UInt64?
    var lines: UInt64?
    var map: String?
    /// For a range of a file, the numbers of bytes and of lines before it.
    var from: UInt64?
    var linesBefore: UInt64?
  }

  private struct Section: Codable {
    var first: Int
    var files: [Entry]
  }

  package let path: String
  /// The files in the order in which their records are read.
  let files: InputFiles
  private let section: Section
  package let isSection: Bool

  /// - Throws: ``PartsError``; `InputError` if the list names no file.
  package init(_ path: String) throws {
    self.path = path
    let bytes = Data(try PartDocument.read(path))
    isSection = bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
    do {
      section =
        isSection
        ? try JSONDecoder().decode(Section.self, from: bytes)
        : Section(first: 0, files: try JSONDecoder().decode([Entry].self, from: bytes))
    } catch {
      throw PartsError(
        path: path,
        problem:
          "it is neither a list of files, each with 'path', 'kind' and 'bytes' or 'lines', nor an object with 'first' and 'files'"
      )
    }
    guard !section.files.isEmpty else { throw InputError.noInput(patterns: [path]) }
    guard 0...Int(UInt32.max) - section.files.count ~= section.first else {
      throw PartsError(path: path, problem: "'first' is not a valid file index")
    }
    var files = InputFiles.none
    for entry in section.files { files.files.append(try Self.file(entry, after: files.files.last, path)) }
    self.files = files
  }

  private static func file(_ entry: Entry, after last: InputFile?, _ path: String) throws -> InputFile {
    func refuse(_ problem: String) -> PartsError {
      PartsError(path: path, problem: "'\(entry.path.printable)' \(problem)")
    }
    guard let kind = InputKind(name: entry.kind) else {
      throw refuse("has an unknown 'kind'; use 'events', 'notifications' or 'deepLinks'")
    }
    guard entry.bytes != nil || entry.lines != nil else {
      throw refuse("has neither 'bytes' nor 'lines', so truncation could not be detected")
    }
    guard
      max(entry.bytes ?? 0, entry.from ?? 0, entry.lines ?? 0, entry.linesBefore ?? 0) <= PartDocument.counts.upperBound
    else { throw refuse("exceeds the maximum size of a file") }
    var file = InputFile(path: FilePath(entry.path), kind: kind, size: entry.bytes ?? 0)
    var length = InputLength(bytes: entry.bytes, lines: entry.lines)
    length.bytesBefore = entry.from ?? 0
    length.linesBefore = entry.linesBefore ?? 0
    file.handedOver = length
    if entry.from != nil,
      entry.path.hasSuffix(".gz") || entry.map != nil || entry.linesBefore == nil || entry.bytes == nil
    {
      throw refuse(
        "has 'from', so it needs 'bytes' and 'linesBefore', and must not be compressed or mapped (compressed and mapped files are read from their start)"
      )
    }
    guard let last else { return file }
    let isNext = (last.path, last.kind) == (file.path, file.kind)
    let end = (last.handedOver?.bytesBefore ?? 0) + (last.handedOver?.bytes ?? 0)
    guard isNext ? length.bytesBefore > 0 && length.bytesBefore == end : (last.path, last.kind) < (file.path, file.kind)
    else {
      throw refuse(
        "is out of order: sort files by the bytes of their paths, then by kind, and list each once; ranges must follow each other without gaps"
      )
    }
    return file
  }

  /// The indices of the files in the complete list; this list may be a section of it.
  package var numbers: Range<Int> { section.first..<section.first + section.files.count }

  /// Returns the SHA-256 of the list's entries for the files with these indices.
  func digest(of numbers: Range<Int>) throws -> String {
    let entries = section.files[numbers.lowerBound - section.first..<numbers.upperBound - section.first]
    return Hexadecimal.text(of: SHA256.hash(try PartDocument.text(Array(entries))))
  }

  /// Returns the files with these indices, to be read from standard input one after another.
  ///
  /// - Throws: ``PartsError``, `ConfigurationErrors` for a map that cannot be used.
  func only(_ numbers: Range<Int>, of job: Job) throws -> InputFiles {
    var only = files
    only.files = []
    for number in numbers {
      var file = files.files[number - section.first]
      file.map = try section.files[number - section.first].map.flatMap { try JobMaps.map($0, of: job) }
      if number + 1 < numbers.upperBound {
        guard file.handedOver?.bytes != nil else {
          throw PartsError(
            path: path,
            problem: "'\(file.path.description.printable)' has no 'bytes', so nothing can follow it on standard input")
        }
        file.handedOver?.isFollowed = true
      }
      only.files.append(file)
    }
    return only
  }
}
