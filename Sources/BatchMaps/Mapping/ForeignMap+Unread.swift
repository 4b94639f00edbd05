import BatchFoundation
package import BatchIngest

extension ForeignMap {
  /// Members of a record that the rules which write its lines do not read, and no rule asks for, as paths; of an array the elements are
  /// one. Of a record without lines, those that no rule reads.
  ///
  /// - Parameter mapper: one of this map, for who asks about many records.
  package func unreadMembers(of record: [UInt8], _ mapper: (any RecordMapper)? = nil) -> [String] {
    guard let root = innerRecord(record) else { return [] }
    let writing = writingRules(for: record, mapper ?? makeMapper())
    var read = Set<[String]>()
    for (number, rule) in rules.enumerated() {
      var paths = rule.conditions.flatMap(\.paths)
      if case .line(let object) = rule.outcome, writing.isEmpty || writing.contains(number) { paths += object.paths }
      for path in paths {
        read.insert(names(of: path))
        // A line may be a record itself.
        if each != nil { read.insert(Self.members(path)) }
      }
    }
    var unread: [String] = []
    collect(root, [], read, &unread)
    return unread
  }

  /// The rules that write the lines of a record.
  private func writingRules(for record: [UInt8], _ mapper: any RecordMapper) -> Set<Int> {
    var outcomes = MappedOutcomes()
    unsafe record.withUnsafeBufferPointer { unsafe mapper.map($0, into: &outcomes) }
    return outcomes.writingRules
  }

  /// The members that a path leads through, those of the array that `each` names included.
  private func names(of path: MapPath) -> [String] {
    let own = Self.members(path)
    guard let each, !path.isOuter else { return own }
    return Self.members(each) + own
  }

  private static func members(_ path: MapPath) -> [String] {
    path.steps.compactMap { step in
      switch step {
      case .member(let name): String(decoding: name, as: UTF8.self)
      case .first(let beginning) where !beginning.isEmpty: String(decoding: beginning, as: UTF8.self) + "*"
      default: nil
      }
    }
  }

  private static func leads(_ names: [String], to path: [String]) -> Bool {
    names.count == path.count
      && zip(names, path).allSatisfy { name, member in
        name.utf8.last == UInt8(ascii: "*")
          ? member.utf8.starts(with: name.utf8.dropLast()) : name.utf8.elementsEqual(member.utf8)
      }
  }

  private func collect(_ node: JSONNode, _ path: [String], _ read: Set<[String]>, _ unread: inout [String]) {
    if read.contains(where: { Self.leads($0, to: path) }) { return }
    if let members = node.members, !members.isEmpty {
      for member in members { collect(member.value, path + [member.key], read, &unread) }
    } else if let elements = node.array, elements.contains(where: { $0.members != nil }) {
      for element in elements { collect(element, path, read, &unread) }
    } else {
      let text = path.joined(separator: ".")
      if !text.isEmpty, !unread.contains(text) { unread.append(text) }
    }
  }
}
