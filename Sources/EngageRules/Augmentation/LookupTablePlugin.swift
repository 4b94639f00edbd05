package import BatchFoundation

/// Adds the columns of the table row found by an attribute's value, such as the weather at a location name. Augments
/// events by configuration alone: the table is loaded once, before any record is read.
package struct LookupTablePlugin: AugmentationPlugin {
  /// The attribute whose value is looked up; may be a core attribute.
  package let key: String
  /// The attribute name of each column.
  package let attributes: [String]
  package let rows: KeyedRows

  package init(key: String, attributes: [String], rows: KeyedRows) {
    self.key = key
    self.attributes = attributes
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
    guard let value = keyValue(in: draft) else { return }
    rows.forEachText(of: value) { column, text in
      unsafe draft.add(arena.text(attributes[column]), arena.copy(text.bytes))
    }
  }

  private func keyValue(in draft: EventDraft) -> Text? {
    var key = key
    return key.withUTF8 { bytes in
      unsafe draft.value(of: bytes.baseAddress.map { unsafe Text(base: $0, count: bytes.count) } ?? .empty)
    }
  }
}
