package import BatchExpressions
import BatchFoundation

/// The events that an environment knows, with their parameters (reference deltadna 6).
package struct EventSchema: Sendable {
  package var events: [EventDefinition]

  package init(events: [EventDefinition]) { self.events = events }

  /// Parameters that every event with parameters knows, declared or not.
  package static let commonParameters = [
    ParameterDefinition("userLevel", ValueDefinition(.integer)),
    ParameterDefinition("userScore", ValueDefinition(.integer)),
    ParameterDefinition("userXP", ValueDefinition(.integer)), ParameterDefinition("platform", ValueDefinition(.string)),
    ParameterDefinition("sdkVersion", ValueDefinition(.string)),
  ]

  /// Those of them that an event does not declare itself.
  package static func commonParameters(besides declared: [ParameterDefinition]) -> [ParameterDefinition] {
    commonParameters.filter { common in !declared.contains { $0.name.isIdentical(to: common.name) } }
  }
}

package struct EventDefinition: Sendable {
  package var name: String
  /// False for an event that only the development environment accepts.
  package var isPublished: Bool
  /// Nil: whatever the event carries is not compared.
  package var parameters: [ParameterDefinition]?

  package init(name: String, isPublished: Bool = true, parameters: [ParameterDefinition]? = nil) {
    self.name = name
    self.isPublished = isPublished
    self.parameters = parameters
  }
}

package struct ParameterDefinition: Sendable {
  package var name: String
  package var value: ValueDefinition
  package var isRequired: Bool

  package init(_ name: String, _ value: ValueDefinition, isRequired: Bool = false) {
    self.name = name
    self.value = value
    self.isRequired = isRequired
  }
}

/// What a value may be.
package struct ValueDefinition: Sendable {
  package var type: ParameterType
  /// What the whole of a text has to match; nil where any will do.
  package var format: LinearRegex?
  /// The texts that are allowed; nil where all are.
  package var enumeration: [String]?
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

  package init?(name: String) {
    guard let type = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) else { return nil }
    self = type
  }
}
