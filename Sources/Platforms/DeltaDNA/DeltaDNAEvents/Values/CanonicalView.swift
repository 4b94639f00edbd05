package import BatchFoundation

/// Values as events carry them: without the members that are dropped, names in the order of their bytes at every depth
/// (reference deltadna 2 and 5). Arrays stay as they are, and so do numbers and texts.
package struct CanonicalView {
  /// Members with `""` are dropped like those with null (`DeltaDNA.dropEmpty`).
  package var dropsEmpty: Bool

  package init(dropsEmpty: Bool) { self.dropsEmpty = dropsEmpty }

  @inline(__always)
  package func drops(_ value: JSONView) -> Bool {
    switch value.kind {
    case .null: true
    case .string: dropsEmpty && value.string?.isEmpty == true
    default: false
    }
  }

  /// Writes the value; it never takes more bytes than it has.
  package func write(_ value: JSONView, to writer: inout ViewWriter) {
    switch value.kind {
    case .object where !isCanonical(value):
      let place = unsafe writer.begin(.object)
      for (key, value) in kept(value) {
        writer.key(key)
        write(value, to: &writer)
      }
      unsafe writer.end(place)
    case .array where !isCanonical(value):
      let place = unsafe writer.begin(.array)
      for element in value.elements { write(element, to: &writer) }
      unsafe writer.end(place)
    default: writer.copy(value)
    }
  }

  private func kept(_ object: JSONView) -> [(key: Text, value: JSONView)] {
    var kept = object.members.filter { !drops($0.value) }
    kept.sortNearlySorted { $0.key < $1.key }
    return kept
  }

  /// Whether nothing about the value would change.
  private func isCanonical(_ value: JSONView) -> Bool {
    switch value.kind {
    case .object:
      var last: Text?
      for (key, value) in value.members {
        if drops(value) || !isCanonical(value) { return false }
        if let last, !(last < key) { return false }
        last = key
      }
      return true
    case .array:
      for element in value.elements where !isCanonical(element) { return false }
      return true
    default: return true
    }
  }
}
