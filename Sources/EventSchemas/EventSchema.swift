package import BatchFoundation

/// The events that an environment knows, with their parameters (reference deltadna 6).
package struct EventSchema: Sendable {
  /// Whose events they are.
  package enum Subject: Sendable {
    case game
    /// An event is called by its code, or by its code and its name, as in `17 checkout`; its parameters are attributes, whose values are texts.
    case app
  }

  package var events: [EventDefinition]
  package var subject = Subject.game

  /// Parameters that every event of a game with parameters knows, declared or not.
  private static let commonParameters = [
    ("userLevel", ParameterType.integer), ("userScore", .integer), ("userXP", .integer), ("platform", .string),
    ("sdkVersion", .string),
  ].map { ParameterDefinition(name: $0, value: ValueDefinition($1)) }

  /// Those of them that an event does not declare itself.
  package func commonParameters(besides declared: [ParameterDefinition]) -> [ParameterDefinition] {
    guard subject == .game else { return [] }
    return Self.commonParameters.filter { common in !declared.contains { $0.name.isIdentical(to: common.name) } }
  }
}

package struct EventDefinition: Sendable {
  package var name: String
  /// False for an event that only the development environment accepts.
  package var isPublished: Bool
  /// Nil: whatever the event carries is not compared.
  package var parameters: [ParameterDefinition]?
}

package struct ParameterDefinition: Sendable {
  package var name: String
  package var value: ValueDefinition
  package var isRequired = false
}

/// What a value may be.
package struct ValueDefinition: Sendable {
  package var type: ParameterType
  /// What the whole of a text has to match; nil where any will do.
  package var format: LinearRegex?
  /// The texts that are allowed; nil where all are.
  package var enumeration: [String]?
  /// The most characters (Unicode scalars) of a text; nil where any number will do.
  package var maxLength: Int?
  /// Of an object; nil if nothing inside is compared.
  package var parameters: [ParameterDefinition]?
  /// Of an array: what each element has to be, none or one; empty if elements are not compared.
  package var items: [ValueDefinition] = []

  package init(_ type: ParameterType) { self.type = type }
}

/// The types of parameters, named as files write them (reference deltadna-service 6.2).
package enum ParameterType: String, CaseIterable, Sendable {
  case string = "STRING"
  /// A whole number of 64 bits, written without fraction and exponent.
  case integer = "INTEGER"
  /// Any number.
  case float = "FLOAT"
  case boolean = "BOOLEAN"
  /// A text in a spelling of `eventTimestamp`.
  case timestamp = "TIMESTAMP"
  case object = "OBJECT"
  case array = "ARRAY"

  /// Those that values can be of; an attribute is a text.
  package static func types(of subject: EventSchema.Subject) -> [ParameterType] {
    subject == .game ? allCases : [.string, .integer, .float, .boolean, .timestamp]
  }
}

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
