import BatchFoundation
import EngageRules
import EventSchemas

/// Checks events against the schema of their job (`General.eventSchema`). Not thread-safe: each worker has its own.
final class EventChecks {
  private var checker: AttributeChecker
  /// The attributes whose values name an event; ``namingCore`` has the core ones among them.
  private let naming: [Text]
  private let namingCore: [CoreAttribute]

  var coverage: SchemaCoverage { checker.coverage }

  /// - Parameter naming: Names in memory that outlives the checks.
  init(_ schema: EventSchema, naming: [Text]) {
    checker = AttributeChecker(schema)
    self.naming = naming
    namingCore = CoreAttribute.allCases.filter { naming.contains($0.name) }
  }

  func findings(of event: Event) -> [EventFinding] {
    let attributes = unsafe event.attributes.map { (name: $0.name, value: $0.value) }
    return Array(name(of: event).utf8).withText {
      checker.findings(ofEvent: [$0, event.code], attributes)
    }
  }

  /// Returns the code, followed by the event's name if it has one, as in `17 checkout`.
  func name(of event: Event) -> String {
    let core = unsafe event.core.pointee
    let named =
      unsafe namingCore.map { core[$0] }.first { !$0.isEmpty }
      ?? event.attributes.first { naming.contains($0.name) && !$0.value.isEmpty }?.value
    return named.map { "\(event.code) \($0)" } ?? event.code.description
  }
}

extension Event {
  /// The event in a line of `--findings-out`.
  var shown: JSONNode {
    [
      "eventTypeCode": .text(code.description), "device": .text(device.description),
      "eventTimestamp": .text(timestamp.rfc3339),
    ]
  }
}
