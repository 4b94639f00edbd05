package import BatchFoundation

/// Partitions, parts, results and states that do not belong together (reference formats 5).
package struct PartsError: RunError, Equatable, CustomStringConvertible {
  package var path: String
  package var problem: String
  var isMissing = false

  /// Returns the error for a folder that would replace another one.
  static func occupied(_ path: String) -> PartsError {
    PartsError(path: path, problem: "it already exists; choose another folder, or remove it")
  }

  package var exit: RunExit { isMissing ? .noInput : .configuration }

  package var description: String { "\(path.printable): error: \(problem)" }
}

/// Files of a list that have not been distributed yet.
package struct MissingPiecesError: RunError, Equatable, CustomStringConvertible {
  package var folder: String
  package var missing: [Int]
  package var files: Int

  package var exit: RunExit { .noInput }

  package var description: String {
    "\(folder.printable): error: the \(missing.count == 1 ? "piece" : "pieces") of \(missing.count.counted("file")) of \(files) "
      + "\(missing.count == 1 ? "is" : "are") missing: \(missing.listed); make them first"
  }
}

/// Parts whose results a store does not have yet.
package struct MissingPartsError: RunError, Equatable, CustomStringConvertible {
  package var store: String
  package var missing: [Int]
  package var parts: Int
  /// The command that takes back the collected parts, if the others are lost.
  package var dropCommand: String

  package var exit: RunExit { .noInput }

  package var description: String {
    "\(store.printable): error: \(missing.count.counted("part")) of \(parts) \(missing.count == 1 ? "is" : "are") missing: "
      + "\(missing.listed); decide and collect them first, because identities are reconciled in the order of time across all parts. "
      + "If they are lost, drop the collected parts: \(dropCommand)"
  }
}

extension [Int] {
  var listed: String {
    prefix(20).map(String.init).joined(separator: ", ") + (count > 20 ? " and more" : "")
  }
}
