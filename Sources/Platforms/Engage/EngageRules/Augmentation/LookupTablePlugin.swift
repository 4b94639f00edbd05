package import BatchFoundation
import EngageEvents

/// Adds the columns of a table row that is found by the value of an attribute, such as the weather at a location name.
///
/// The configuration-only way to augment events: the table is loaded once, before any record is read.
package struct LookupTablePlugin: AugmentationPlugin {
  /// Attribute whose value is looked up, core ones included.
  package let key: String
  /// Key value to the attributes it adds, by bytes, in the order of the columns.
  package let rows: [[UInt8]: [(name: String, value: String)]]

  package init(key: String, rows: [[UInt8]: [(name: String, value: String)]]) {
    self.key = key
    self.rows = rows
  }

  package var isSynchronous: Bool { false }

  package var needsSamples: Bool { false }

  package func lacksInput(in draft: EventDraft) -> Bool { keyValue(in: draft) == nil }

  package func readiness(
    of draft: EventDraft, _ samples: LocationSamples, _ settings: AugmentationSettings
  ) -> Readiness { .ready(at: draft.timestamp) }

  package func apply(
    to draft: inout EventDraft, _ samples: LocationSamples, _ settings: RuleSettings, in arena: Arena
  ) {
    guard let value = keyValue(in: draft), let columns = unsafe rows[Array(value.bytes)] else { return }
    for column in columns { draft.add(arena.text(column.name), arena.text(column.value)) }
  }

  private func keyValue(in draft: EventDraft) -> Text? {
    var key = key
    return key.withUTF8 { bytes in
      unsafe draft.value(of: bytes.baseAddress.map { unsafe Text(base: $0, count: bytes.count) } ?? .empty)
    }
  }
}
