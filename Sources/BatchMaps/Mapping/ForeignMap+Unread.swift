import BatchFoundation
package import BatchIngest

extension ForeignMap {
  /// Returns the paths of the members, of the record and of the line around it, that have a value but are not copied to
  /// any line. The elements of an array share one path. Empty if the record does not become a line.
  ///
  /// - Parameter mapper: a mapper of this map, for reuse; nil to create one.
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
    if let last, !outcomes.writingRules.isEmpty {
      collect(last, [], &unread)
      let record = map.record?.value(in: whole, of: whole, values.texts) ?? whole
      writer.taken?.insert(CanonicalWriter.place(of: record))
      // With `each`, no path leads there.
      collect(whole, map.each == nil ? ["^"] : [], &unread)
    }
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

extension ForeignMap {
  /// Returns sentences about the document's own rules that match none of the records, and about fields of the remaining
  /// rules that have no value in any record. Included maps are ignored.
  package func ineffectiveParts(for records: [[UInt8]]) -> [String] {
    let filled = filledFields(of: records, inFirst: ownRules)
    return rules.indices.prefix(ownRules).flatMap { number -> [String] in
      let rule = rules[number]
      guard let filled = filled[number] else { return ["rule '\(rule.name)' matches no record"] }
      return rule.fieldPaths.keys.sorted().filter { !filled.contains($0) }.map { field in
        let names = rule.fieldPaths[field, default: []].prefix(3).map { "'\($0.text)'" }.joined(separator: ", ")
        return "rule '\(rule.name)': no record has \(names), from which '\(field)' is read"
      }
    }
  }

  /// Returns the fields that have no value in any record, with their paths.
  package func emptyFields(of records: [[UInt8]]) -> [(field: String, paths: [String])] {
    // Records in the project's own shape may have any field.
    guard name != ForeignMap.own.name else { return [] }
    let filled = filledFields(of: records, inFirst: rules.count)
    let all = filled.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    var empty: [String: [String]] = [:]
    for number in filled.keys.sorted() {
      for (field, paths) in rules[number].fieldPaths where !all.contains(field) {
        empty[field, default: []] += paths.map(\.text).filter { !empty[field, default: []].contains($0) }
      }
    }
    return empty.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
  }

  /// Returns the fields that have a value in some record, for each rule that matches a record, by the rule's index.
  private func filledFields(of records: [[UInt8]], inFirst count: Int) -> [Int: Set<String>] {
    let mapper = ForeignMapper(self)
    var filled: [Int: Set<String>] = [:]
    let paths = rules.prefix(count).map { rule in
      // A field with a constant always has a value.
      rule.fieldPaths.merging(rule.constantFields.map { ($0, []) }) { $1 }
    }
    let plan = MapPlan(self)
    let values = RecordValues(plan.outline)
    func look(at record: JSONView, of line: JSONView) {
      values.read(record, of: line)
      var place = plan.graph.first
      while let number = plan.graph.rule(from: place, values) {
        place = plan.rules[number].next
        guard number < count else { continue }
        filled[number, default: []].formUnion([])
        for (field, sources) in paths[number]
        where sources.isEmpty
          || sources.contains(where: { $0.value(in: record, of: line, values.texts)?.isGiven ?? false })
        {
          filled[number, default: []].insert(field)
        }
      }
    }
    for bytes in records {
      unsafe bytes.withUnsafeBufferPointer { bytes in
        values.texts.reset()
        // Unreadable lines are quarantined with their own reason.
        guard case .success(let (record, line)) = unsafe mapper.read(bytes) else { return }
        let list = each?.value(in: line, of: line, values.texts).map { values.texts.value(of: $0).list }
        guard let list, list.kind == .array else { return look(at: record, of: line) }
        for element in list.elements.lazy.map(\.item) where element.kind == .object { look(at: element, of: line) }
      }
    }
    return filled
  }
}

extension MapRule {
  /// The fields that have a constant as a source or default.
  fileprivate var constantFields: [String] {
    guard case .line(let object) = outcome else { return [] }
    return object.members.compactMap { member in
      guard case .value(let sources) = member.node else { return nil }
      let isConstant = sources.contains { source in
        if case .constant = source.origin { true } else { source.fallback != nil }
      }
      return isConstant ? String(decoding: member.name, as: UTF8.self) : nil
    }
  }
}
