import BatchConfiguration
import BatchFoundation
import BatchHash
import BatchIngest
import FoundationEssentials

/// The files of an export, listed by whoever can reach them where this process cannot (reference formats 5.5).
package struct FileList: Sendable {
  private struct Entry: Codable {
    var path: String
    var kind: String
    var bytes: UInt64?
    var lines: UInt64?
    var map: String?
  }

  package let path: String
  /// In the order in which their records count.
  let files: InputFiles
  /// SHA-256 of the list: equal for equal lists only.
  let digest: String
  /// Of each file, the name of its map; nil for one of the project's own shape.
  private let maps: [String?]

  /// - Throws: ``PartsError``, `InputError` where it names no file.
  package init(_ path: String) throws {
    self.path = path
    let bytes = try PartDocument.read(path)
    digest = Hexadecimal.text(of: SHA256.hash(bytes))
    let entries: [Entry]
    do {
      entries = try JSONDecoder().decode([Entry].self, from: Data(bytes))
    } catch {
      throw PartsError(path: path, problem: "not a list of files, each with 'path', 'kind' and 'bytes' or 'lines'")
    }
    guard !entries.isEmpty else { throw InputError.noInput(patterns: [path]) }
    var files = InputFiles.none
    for entry in entries {
      func refuse(_ problem: String) -> PartsError {
        PartsError(path: path, problem: "'\(entry.path.printable)' \(problem)")
      }
      guard let kind = InputKind(name: entry.kind) else { throw refuse("is of no kind of input") }
      let length = InputLength(bytes: entry.bytes, lines: entry.lines)
      guard length != InputLength(bytes: nil, lines: nil) else {
        throw refuse("has neither 'bytes' nor 'lines', so nobody could tell its end from a cut")
      }
      var file = InputFile(path: BatchIngest.FilePath(entry.path), kind: kind, size: entry.bytes ?? 0)
      file.handedOver = length
      if let last = files.files.last, (last.path, last.kind) >= (file.path, file.kind) {
        throw refuse("is not in the order in which records count: bytes of the path, then kind, each once")
      }
      files.files.append(file)
    }
    self.files = files
    maps = entries.map(\.map)
  }

  package var count: Int { files.files.count }

  /// One of the files, to be read from standard input.
  ///
  /// - Throws: `ConfigurationErrors` for a map that cannot be used.
  func only(_ number: Int, of job: Job) throws -> InputFiles {
    var only = files
    only.files = [files.files[number]]
    only.files[0].map = try maps[number].flatMap { try JobMaps.map($0, of: job) }
    return only
  }
}
