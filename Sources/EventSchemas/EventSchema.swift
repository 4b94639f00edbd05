package import BatchFoundation

/// The events that an environment knows, with their parameters (reference deltadna 6).
package struct EventSchema: Sendable {
  /// The origin of the events.
  package enum Subject: Sendable {
    case game
    /// Events are named by code, or by code and name, as in `17 checkout`; parameters are string attributes.
    case app
  }

  package var events: [EventDefinition]
  package var subject = Subject.game

  /// The parameters that every game event with parameters may have, declared or not.
  private static let commonParameters = [
    ("userLevel", ParameterType.integer), ("userScore", .integer), ("userXP", .integer), ("platform", .string),
    ("sdkVersion", .string),
  ].map { ParameterDefinition(name: $0, value: ValueDefinition($1)) }

  /// Returns the common parameters that an event does not declare itself.
  package func commonParameters(besides declared: [ParameterDefinition]) -> [ParameterDefinition] {
    guard subject == .game else { return [] }
    return Self.commonParameters.filter { common in !declared.contains { $0.name.isIdentical(to: common.name) } }
  }
}

package struct EventDefinition: Sendable {
  package var name: String
  /// False for an event that only the development environment accepts.
  package var isPublished: Bool
  /// The parameters; nil if the event's parameters are not compared with the schema.
  package var parameters: [ParameterDefinition]?
}

package struct ParameterDefinition: Sendable {
  package var name: String
  package var value: ValueDefinition
  package var isRequired = false
}

package struct ValueDefinition: Sendable {
  package var type: ParameterType
  /// The expression that the whole string must match; nil for any string.
  package var format: LinearRegex?
  /// The allowed strings; nil for all.
  package var enumeration: [String]?
  /// The maximum number of characters (Unicode scalars) of a string; nil for any number.
  package var maxLength: Int?
  /// The parameters of an object; nil if its members are not compared with the schema.
  package var parameters: [ParameterDefinition]?
  /// The definition of an array's elements, at most one; empty if the elements are not compared with the schema.
  package var items: [ValueDefinition] = []

  package init(_ type: ParameterType) { self.type = type }
}

/// The types of parameters. The raw value is the name in schema files (reference deltadna-service 6.2).
package enum ParameterType: String, CaseIterable, Sendable {
  case string = "STRING"
  /// A 64-bit integer, written without fraction or exponent.
  case integer = "INTEGER"
  /// Any number.
  case float = "FLOAT"
  case boolean = "BOOLEAN"
  /// A string in any format that `eventTimestamp` may have.
  case timestamp = "TIMESTAMP"
  case object = "OBJECT"
  case array = "ARRAY"

  /// Returns the types that parameters can have. An app's attributes are strings, so they cannot be objects or arrays.
  package static func types(of subject: EventSchema.Subject) -> [ParameterType] {
    subject == .game ? allCases : [.string, .integer, .float, .boolean, .timestamp]
  }
}

/// A problem that makes a schema file unusable, and its place (reference deltadna 10).
package struct SchemaProblem: Equatable, Sendable {
  /// The kinds of problems; the raw value is the id that `deltadna schema check` prints.
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
  /// A JSON Pointer into the file; for a missing key, the pointer that it would have.
  package var path: String
  /// The reason, preceded by the names of the event and the parameters on the path, or by the pointer if there are
  /// none.
  package var fault: ConfigurationFault
}

/// The counts and problems found in a schema file.
package struct SchemaInspection: Sendable {
  /// The maximum number of problems that are recorded; a check after fixing them finds more.
  static let mostProblems = 1_000

  package var events = 0
  /// The number of parameters at any depth.
  package var parameters = 0
  /// The problems, sorted by the bytes of the path, then of the id; at most the first ``mostProblems`` found.
  package var problems: [SchemaProblem] = []
}
