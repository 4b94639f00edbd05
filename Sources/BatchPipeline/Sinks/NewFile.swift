import BatchFoundation
import FoundationEssentials
import Glibc

/// A file that does not exist yet, accessible only to its owner, like the folders made for it.
package enum NewFile {
  /// - Throws: ``OutputError`` if something exists at the path.
  package static func refuse(at path: String) throws {
    try OutputError.at(path) { () throws(SystemError) in
      if try FileStatus.at(path) != nil { throw SystemError(EEXIST) }
    }
  }

  /// - Throws: ``OutputError``, also if something exists at the path, which stays unchanged.
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
