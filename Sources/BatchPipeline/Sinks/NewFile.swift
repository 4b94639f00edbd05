import BatchFoundation
import FoundationEssentials
import Glibc

/// A file that is not there yet, for its owner alone; so are the folders that are made for it.
package enum NewFile {
  /// - Throws: ``OutputError`` where something stands at the path.
  package static func refuse(at path: String) throws {
    do throws(SystemError) {
      if try FileStatus.at(path) != nil { throw SystemError(EEXIST) }
    } catch {
      throw OutputError(path: path, code: error.code)
    }
  }

  /// - Throws: ``OutputError``, also where something stands at the path, which stays as it is.
  package static func write(_ text: String, to path: String) throws {
    try OutputFolder.make(for: path)
    do throws(SystemError) {
      let draft = try DraftFile(for: path)
      try draft.write(text)
      try draft.publish()
    } catch {
      throw OutputError(path: path, code: error.code)
    }
  }
}

extension DraftFile {
  func write(_ text: String) throws(SystemError) { try write(Array(text.utf8)) }
}
