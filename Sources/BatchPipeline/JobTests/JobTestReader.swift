import BatchConfiguration
import BatchFoundation

/// A reader of files of tests: a JSON array of objects, in the order of execution.
package struct JobTestReader {
  private static let keys = ["name", "asOf", "settings", "events", "notifications", "deepLinks", "inputs", "expect"]
  private static let inputs: [(key: String, kind: InputKind)] = [
    ("events", .events), ("notifications", .notifications), ("deepLinks", .deepLinks),
  ]

  private let file: String

  /// - Parameter file: the name of the file in messages.
  /// - Throws: ``JobTestFault`` for the first fault.
  package static func read(_ bytes: [UInt8], file: String) throws -> [JobTest] {
    let reader = JobTestReader(file: file)
    let root: JSONNode
    do {
      root = try JSONNode.parse(bytes)
    } catch {
      throw reader.fault(LineStarts(bytes).position(of: error.offset), error.reason)
    }
    guard let tests = root.array else {
      throw reader.fault(root.place, "the file is \(root.kind), but must be an array of tests")
    }
    return try tests.map(reader.test)
  }

  private func test(_ node: JSONNode) throws -> JobTest {
    try check(node, "a test", Self.keys)
    guard let name = node["name"]?.string, !name.isEmpty else { throw fault(node.place, "the test has no 'name'") }
    var test = JobTest(name: name, file: file, line: node.line ?? 1)
    if let asOf = node["asOf"] {
      guard let instant = asOf.string.flatMap({ Instant.parse(rfc3339: $0) }) else {
        throw fault(asOf.place, "'asOf' is not an RFC 3339 time, such as '2026-01-31T00:00:00Z'")
      }
      test.asOf = instant
    }
    test.settings = try settings(node["settings"])
    for (key, kind) in Self.inputs {
      if let records = node[key] { test.records[kind] = try list(records, key) }
    }
    if let inputs = node["inputs"] {
      guard let entries = inputs.members else {
        throw fault(inputs.place, "'inputs' is \(inputs.kind), but must be an object of entries of the job")
      }
      test.foreign = try entries.map { entry in
        JobTest.Foreign(
          entry: entry.key, line: entry.line ?? 1,
          records: try list(entry.value, "inputs.\(entry.key)"))
      }
    }
    if (Array(test.records.values) + test.foreign.map(\.records)).allSatisfy(\.isEmpty) {
      throw fault(
        node.place, "the test has no records; write them under 'events', 'notifications', 'deepLinks' or 'inputs'")
    }
    guard let expected = node["expect"] else { throw fault(node.place, "the test has no 'expect'") }
    let names = JobTest.Expectation.allCases.map(\.rawValue)
    try check(expected, "'expect'", names)
    for expectation in JobTest.Expectation.allCases {
      test.expected[expectation] = expected[expectation.rawValue]
    }
    if test.expected.isEmpty {
      throw fault(expected.place, "'expect' is empty; known keys are \(names.joined(separator: ", "))")
    }
    return test
  }

  private func list(_ records: JSONNode, _ key: String) throws -> [JSONNode] {
    guard let list = records.array else {
      throw fault(records.place, "'\(key)' is \(records.kind), but must be an array of records")
    }
    return list
  }

  private func settings(_ node: JSONNode?) throws -> [SettingOverride] {
    guard let node else { return [] }
    guard let sections = node.members else {
      throw fault(node.place, "'settings' is \(node.kind), but must be an object of sections")
    }
    return try sections.flatMap { section -> [SettingOverride] in
      guard let members = section.value.members else {
        throw fault(section.value.place, "'settings.\(section.key)' is \(section.value.kind), but must be an object")
      }
      return try members.map { member in
        let text = member.value.string ?? member.value.canonicalText
        guard let setting = SettingOverride("\(section.key).\(member.key)=\(text)") else {
          throw fault(member.place, "'\(section.key).\(member.key)' is not a setting")
        }
        return setting
      }
    }
  }

  private func check(_ node: JSONNode, _ what: String, _ keys: [String]) throws {
    guard let members = node.members else { throw fault(node.place, "\(what) is \(node.kind), but must be an object") }
    for member in members where !keys.contains(member.key) {
      let hint = NearestName.question(about: member.key, among: keys)
      throw fault(
        member.place,
        "unknown key '\(member.key)' of \(what); \(hint ?? "known keys are \(keys.joined(separator: ", "))")")
    }
  }

  private func fault(_ place: TextPlace?, _ problem: String) -> JobTestFault {
    JobTestFault(file: file, line: place?.line ?? 1, problem: problem)
  }
}
