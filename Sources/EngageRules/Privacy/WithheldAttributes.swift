package import BatchFoundation

/// The attributes that are removed, masked or hashed before an event leaves the rules (reference formats 2.6).
package struct WithheldAttributes: Sendable {
  private let leftOut: Set<Text>
  private let masked: Set<Text>
  private let hashed: Set<Text>
  private let hash: @Sendable (Text, Arena) -> Text

  /// - Parameter hash: returns the replacement of a value.
  package init(
    leftOut: Set<Text>, masked: Set<Text>, hashed: Set<Text>, hash: @escaping @Sendable (Text, Arena) -> Text
  ) {
    self.leftOut = leftOut
    self.masked = masked
    self.hashed = hashed
    self.hash = hash
  }

  /// Applies to all attributes but the core ones.
  func apply(to draft: inout EventDraft, in arena: Arena) {
    if !leftOut.isEmpty { draft.others.removeAll { leftOut.contains($0.name) } }
    for index in draft.others.indices {
      let name = draft.others[index].name
      if masked.contains(name) {
        draft.others[index].value = "***"
      } else if hashed.contains(name) {
        draft.others[index].value = hash(draft.others[index].value, arena)
      }
    }
  }
}
