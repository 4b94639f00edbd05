package import BatchFoundation

/// Values in the form of events: without the members that are dropped, names in byte order at every depth
/// (reference deltadna 2 and 5). Numbers and texts are unchanged, and so are arrays if only members are dropped.
package struct CanonicalView {
  /// Members with `""` are dropped like those with null (`DeltaDNA.dropEmpty`).
  package var dropsEmpty: Bool

  /// Containers with nothing but dropped values are dropped too, and such values in arrays (reference unity 4).
  package var dropsEmptied = false

  @inline(__always)
  package func drops(_ value: JSONView) -> Bool {
    switch value.kind {
    case .null: true
    case .string: dropsEmpty && value.string?.isEmpty == true
    case .object, .array: dropsEmptied && hasNothing(value)
    default: false
    }
  }

  private func hasNothing(_ container: JSONView) -> Bool {
    container.elements.allSatisfy { drops($0) } && container.members.allSatisfy { drops($0.value) }
  }

  /// Writes the value; it never takes more bytes than before.
  @inline(__always)
  package func write(_ value: JSONView, to writer: inout ViewWriter) {
    switch value.kind {
    case .object, .array: writeContainer(value, to: &writer)
    default: writer.copy(value)
    }
  }

  private func writeContainer(_ container: JSONView, to writer: inout ViewWriter) {
    let place = unsafe writer.begin(container.kind)
    for element in container.elements where !dropsEmptied || !drops(element) { write(element, to: &writer) }
    let (count, areOrdered) = members(of: container)
    if areOrdered {
      for (key, value) in container.members where !drops(value) {
        writer.key(key)
        write(value, to: &writer)
      }
    } else {
      var kept: [(key: Text, value: JSONView)] = []
      kept.reserveCapacity(count)
      for member in container.members where !drops(member.value) { kept.append(member) }
      kept.sortNearlySorted { $0.key < $1.key }
      for (key, value) in kept {
        writer.key(key)
        write(value, to: &writer)
      }
    }
    unsafe writer.end(place)
  }

  /// Returns the number of members and whether their names are in order; each depth is walked through only once.
  private func members(of object: JSONView) -> (count: Int, areOrdered: Bool) {
    var (count, areOrdered) = (0, true)
    var last = Text.empty
    for (key, _) in object.members {
      if count > 0, !(last < key) { areOrdered = false }
      last = key
      count += 1
    }
    return (count, areOrdered)
  }
}
