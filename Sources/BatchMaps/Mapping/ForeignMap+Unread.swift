import BatchFoundation
package import BatchIngest

extension ForeignMap {
  /// Members with a value that a record has and its lines have not, as paths; of an array the elements are one. None of a record
  /// without lines.
  ///
  /// - Parameter mapper: one of this map, for who asks about many records.
  package func unreadMembers(of record: [UInt8], _ mapper: (any RecordMapper)? = nil) -> [String] {
    unsafe record.withUnsafeBufferPointer {
      unsafe (mapper as? ForeignMapper ?? ForeignMapper(self)).unreadMembers(of: $0)
    }
  }
}

extension ForeignMapper {
  fileprivate func unreadMembers(of record: UnsafeBufferPointer<UInt8>) -> [String] {
    var outcomes = MappedOutcomes()
    writer.taken = []
    defer { writer.taken = nil }
    unsafe map(record, into: &outcomes)
    var unread: [String] = []
    if let last, !outcomes.writingRules.isEmpty { collect(last, [], &unread) }
    return unread
  }

  private func collect(_ value: JSONView, _ path: [String], _ unread: inout [String]) {
    if value.isNull || writer.taken?.contains(CanonicalWriter.place(of: value)) ?? true { return }
    let value = values.texts.known(value)
    if value.kind == .object, value.members.contains(where: { _ in true }) {
      for member in value.members { collect(member.value, path + [member.key.description], &unread) }
    } else if value.elements.contains(where: { $0.kind == .object }) {
      for element in value.elements { collect(element, path, &unread) }
    } else {
      let text = path.joined(separator: ".")
      if !text.isEmpty, !unread.contains(text) { unread.append(text) }
    }
  }
}
