package import BatchFoundation

/// Why a schema file cannot be used, and where (reference deltadna 10).
package struct SchemaProblem: Equatable, Sendable {
  /// The raw value is the id that `deltadna schema check` prints.
  package enum Kind: String, CaseIterable, Sendable {
    case notASchema
    case notAnObject
    case notAnArray
    case badName
    case reservedName
    case duplicateName
    case badType
    case misplaced
    case badFormat
    case badEnumeration
  }

  package var kind: Kind
  /// A JSON Pointer into the file; of a missing key the place where it should be.
  package var path: String
  /// The event, and the parameters that lead there, by name; empty where they have none.
  package var names: String
  /// Of a missing key, where its object begins.
  package var place: TextPlace
  /// What is wrong, in words.
  package var reason: String

  /// Where by name, or by the pointer where nothing has one, and what is wrong.
  package var words: String {
    let place = names.isEmpty ? path : names
    return place.isEmpty ? reason : "\(place): \(reason)"
  }
}

/// A schema file that cannot be used, with everything that is wrong with it.
package struct EventSchemaError: RunError, Equatable, Sendable, CustomStringConvertible {
  /// As the caller named the file.
  package var file: String
  package var problems: [SchemaProblem]

  package init(file: String, problems: [SchemaProblem]) {
    self.file = file
    self.problems = problems
  }

  /// One line for each problem.
  package var lines: [String] {
    problems.map { "\(file):\($0.place.line):\($0.place.column): error: \($0.words)" }
  }

  package var exit: RunExit { .configuration }

  package var description: String { lines.joined(separator: "\n") }
}

/// What a schema file holds, for somebody who checks it.
package struct SchemaInspection: Sendable {
  /// More are not noted: whoever mends so many looks again.
  static let mostProblems = 1_000

  package var events = 0
  /// At any depth.
  package var parameters = 0
  /// By bytes of the path, then of the id; the first that were found where there are more than ``mostProblems``.
  package var problems: [SchemaProblem] = []
}
