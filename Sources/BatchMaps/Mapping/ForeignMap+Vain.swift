import BatchFoundation
import BatchIngest

extension ForeignMap {
  /// What of the document says nothing about some records of an export: rules that take none of them, and fields of which none has a value
  /// at any of its paths. Rules of maps that are included are left aside.
  package func vainWords(for records: [[UInt8]]) -> [String] {
    let filled = filledFields(of: records, inFirst: ownRules)
    return rules.indices.prefix(ownRules).flatMap { number -> [String] in
      let rule = rules[number]
      guard let filled = filled[number] else { return ["rule '\(rule.name)' takes none of them"] }
      return rule.fieldPaths.keys.sorted().filter { !filled.contains($0) }.map { field in
        let names = rule.fieldPaths[field, default: []].prefix(3).map { "'\($0)'" }.joined(separator: ", ")
        return "rule '\(rule.name)': none has \(names), of which '\(field)' is read"
      }
    }
  }

  /// Fields of which none of the records has a value, whichever rule takes it, with the paths that they are read from.
  package func emptyFields(of records: [[UInt8]]) -> [(field: String, paths: [String])] {
    // Records of the project's own may have all fields that there are.
    guard name != ForeignMap.own.name else { return [] }
    let filled = filledFields(of: records, inFirst: rules.count)
    let all = filled.values.reduce(into: Set<String>()) { $0.formUnion($1) }
    var empty: [String: [String]] = [:]
    for number in filled.keys.sorted() {
      for (field, paths) in rules[number].fieldPaths where !all.contains(field) {
        empty[field, default: []] += paths.filter { !empty[field, default: []].contains($0) }
      }
    }
    return empty.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
  }

  /// By number of a rule that takes some of the records, the fields that had a value.
  private func filledFields(of records: [[UInt8]], inFirst count: Int) -> [Int: Set<String>] {
    let mapper = ForeignMapper(self)
    var filled: [Int: Set<String>] = [:]
    let paths = rules.prefix(count).map { rule in
      // Paths of a map were read before; a constant is always there.
      rule.fieldPaths.mapValues { $0.compactMap { try? MapPath($0, names: names) } }
        .merging(rule.constantFields.map { ($0, []) }) { $1 }
    }
    let plan = MapPlan(self)
    let values = RecordValues(plan.outline)
    func look(at record: JSONView, of line: JSONView) {
      values.read(record, of: line)
      var place = plan.decisions.first
      while let number = plan.decisions.rule(from: place, values) {
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
        // What is no record is quarantined with words of its own.
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
  /// Fields that have a constant as one of their sources.
  fileprivate var constantFields: [String] {
    guard case .line(let object) = outcome else { return [] }
    return object.members.compactMap { member in
      guard case .value(let value) = member.node else { return nil }
      let isConstant = value.sources.contains { source in
        if case .constant = source.origin { true } else { source.fallback != nil }
      }
      return isConstant ? String(decoding: member.name, as: UTF8.self) : nil
    }
  }
}
