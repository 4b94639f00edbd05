import BatchFoundation
import BatchIngest

extension ForeignMap {
  /// What of the document says nothing about some records of an export: rules that take none of them, and fields of which none has a value
  /// at any of its paths. Rules of maps that are included are left aside.
  package func vainWords(for records: [[UInt8]]) -> [String] {
    var reader = JSONLineReader()
    var tape = JSONTape()
    var taken = Set<Int>()
    /// By number of a rule, the fields that had a value.
    var filled: [Int: Set<String>] = [:]
    let rules = rules.prefix(ownRules)
    let paths = rules.map { rule in
      // Paths of a map were read before.
      rule.fieldPaths.mapValues { $0.compactMap { try? MapPath($0) } }
    }
    let plan = MapPlan(self)
    let values = RecordValues(plan.outline)
    func look(at record: JSONView, of line: JSONView) {
      values.read(record, of: line)
      var place = plan.decisions.first
      while let number = plan.decisions.rule(from: place, values) {
        place = plan.rules[number].next
        taken.insert(number)
        guard number < ownRules else { continue }
        for (field, sources) in paths[number]
        where sources.isEmpty || sources.contains(where: { $0.value(in: record, of: line)?.isGiven ?? false }) {
          filled[number, default: []].insert(field)
        }
      }
    }
    for bytes in records {
      tape.reset(keeping: 1 << 22)
      unsafe bytes.withUnsafeBufferPointer { bytes in
        // What is no record is quarantined with words of its own.
        guard unsafe firstInvalidUTF8(bytes) == nil, unsafe LineReader.parse(bytes, &reader, onto: &tape) == nil else {
          return
        }
        let whole = tape.view(at: 0)
        guard let line = self.record.map({ $0.value(in: whole, of: whole) }) ?? whole, line.kind == .object else {
          return
        }
        guard let list = each?.value(in: line, of: line), list.kind == .array else { return look(at: line, of: line) }
        for element in list.elements where element.kind == .object { look(at: element, of: line) }
      }
    }
    return rules.indices.flatMap { number -> [String] in
      let rule = rules[number]
      guard taken.contains(number) else { return ["rule '\(rule.name)' takes none of them"] }
      return paths[number].keys.sorted().filter { !(filled[number]?.contains($0) ?? false) }.map { field in
        let names = rule.fieldPaths[field, default: []].prefix(3).map { "'\($0)'" }.joined(separator: ", ")
        return "rule '\(rule.name)': none has \(names), of which '\(field)' is read"
      }
    }
  }
}
