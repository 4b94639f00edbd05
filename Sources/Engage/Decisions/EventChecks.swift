import BatchFoundation
import BatchStore
import EngageRules
import EventSchemas

/// Checks events against the schema of their job (`General.eventSchema`). Not thread-safe: each worker has its own.
final class EventChecks {
  private var checker: AttributeChecker
  private var wording: FindingWords
  private var encoder: EventBlockWriter
  /// The attributes whose values name an event; ``namingCore`` has the core ones among them.
  private let naming: [Text]
  private let namingCore: [CoreAttribute]

  var coverage: SchemaCoverage { checker.coverage }

  /// - Parameter naming: Names in memory that outlives the checks.
  init(_ schema: EventSchema, naming: [Text], _ limits: BlockLimits) {
    encoder = EventBlockWriter(.engage, limits: limits)
    checker = AttributeChecker(schema)
    wording = FindingWords(schema)
    self.naming = naming
    namingCore = CoreAttribute.allCases.filter { naming.contains($0.name) }
  }

  func findings(of event: Event) -> [EventFinding] {
    let attributes = unsafe event.attributes.map { (name: $0.name, value: $0.value) }
    return Array(name(of: event).utf8).withText {
      checker.findings(ofEvent: [$0, event.code], attributes)
    }
  }

  func words(_ findings: [EventFinding], of event: Event) -> String {
    wording.words(findings, ofEvent: name(of: event))
  }

  /// Returns the event for quarantine, with its findings and the bytes it would have been sent with.
  ///
  /// - Throws: ``StoreError/damagedBlock``.
  func quarantined(_ event: Event, _ findings: [EventFinding]) throws -> QuarantinedLine {
    let block = unsafe withUnsafePointer(to: event) {
      unsafe encoder.encode(UnsafeBufferPointer(start: $0, count: 1)).bytes
    }
    let id = EventID(timestamp: event.timestamp, device: event.device, emission: event.emission)
    var line = QuarantinedLine(
      event: id, reason: .schemaInvalid, detail: words(findings, of: event), raw: try WireForm.engage.event(block).json)
    line.block = block
    return line
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
  /// Returns a line of `--findings-out`, without a line end.
  func findingsLine(_ findings: [EventFinding]) -> [UInt8] {
    EventFinding.line(
      [
        "eventTypeCode": .text(code.description), "device": .text(device.description),
        "eventTimestamp": .text(timestamp.rfc3339),
      ], findings)
  }
}
