import BatchFoundation
import FoundationEssentials
import Glibc

/// A file that is not there yet, for its owner alone; so are the folders that are made for it.
package enum NewFile {
  /// - Throws: ``OutputError`` where something stands at the path.
  package static func refuse(at path: String) throws {
    try OutputError.at(path) { () throws(SystemError) in
      if try FileStatus.at(path) != nil { throw SystemError(EEXIST) }
    }
  }

  /// - Throws: ``OutputError``, also where something stands at the path, which stays as it is.
  package static func write(_ text: String, to path: String) throws {
    try OutputFolder.make(for: path)
    try OutputError.at(path) { () throws(SystemError) in
      let draft = try DraftFile(for: path)
      try draft.write(text)
      try draft.publish()
    }
  }
}

extension DraftFile {
  func write(_ text: String) throws(SystemError) { try write(Array(text.utf8)) }
}
