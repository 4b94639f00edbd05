import BatchFoundation
import BatchPipeline

/// Ids on the command line; `@` followed by a file of ids, one per line, keeps them out of the list of processes.
enum NamedIDs {
  /// Returns the files of ids that the arguments name.
  static func files(of arguments: [String]) -> [OutputConflict.Use] {
    arguments.filter { $0.utf8.first == UInt8(ascii: "@") }
      .map { OutputConflict.Use("the file of ids", String($0.dropFirst())) }
  }

  /// - Throws: ``MissingFileError``.
  static func ids(of argument: String) throws -> [String] {
    guard argument.utf8.first == UInt8(ascii: "@") else { return [argument] }
    let path = String(argument.dropFirst())
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.read(path, largest: 256 << 20, takesPipes: true)
    } catch {
      throw MissingFileError(path: path, error)
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
  }
}
