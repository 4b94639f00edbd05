package import BatchConfiguration
package import BatchFoundation

/// A test of a job: records and the expected results (reference formats 1.5).
package struct JobTest: Sendable {
  package var name: String
  package var place: Place
  /// The clock of the test; nil to use the job's clock.
  package var asOf: Instant?
  /// Settings that override those of the job.
  package var settings: [SettingOverride] = []
  package var records: [InputKind: [JSONNode]] = [:]
  /// Records in the format of the job's input files, to be read through the job's maps.
  package var foreign: [Foreign] = []
  /// The expected results; those without an entry are not compared.
  package var expected: [Expectation: JSONNode] = [:]

  /// Records in the format of one entry in the job's `inputs`, to be read through the entry's map.
  package struct Foreign: Sendable {
    /// The entry's path as written in the job, or its label.
    package var entry: String
    package var place: Place
    package var records: [JSONNode]
  }

  package enum Expectation: String, CaseIterable, Sendable {
    case events, sessions, campaigns, requests, quarantine, warnings
  }
}

extension JobTest {
  /// Reads a file of tests: a JSON array of objects, in the order of execution.
  ///
  /// - Parameter file: the name of the file in messages.
  /// - Throws: ``FileError`` with all faults.
  package static func read(_ bytes: [UInt8], file: String) throws(FileError) -> [JobTest] {
    let faults = DocumentFaults(file)
    let tests = faults.json(bytes).flatMap { Field("tests", $0, faults).elements("an array of tests") }
    let read = tests?.compactMap { JobTest($0) }
    try faults.throwErrors()
    return read ?? []
  }

  /// Reads a test and reports its faults; nil if `field` is not an object.
  private init?(_ field: Field) {
    guard let fields = field.object() else { return nil }
    defer { fields.end() }
    let name = fields.required("name")?.text()
    self.init(name: name ?? "", place: Place(field.faults.source, line: field.place?.line))
    if let time = fields["asOf"] {
      asOf = time.text().flatMap { Instant.parse(rfc3339: $0) }
      if asOf == nil { time.refuse("is not an RFC 3339 time, such as '2026-01-31T00:00:00Z'") }
    }
    for (section, keys) in fields["settings"]?.entries("an object with sections as keys") ?? [] {
      for (key, value) in keys.entries() ?? [] {
        let text = value.node.string ?? value.node.canonicalText
        if let setting = SettingOverride("\(section).\(key)=\(text)") {
          settings.append(setting)
        } else {
          value.refuse("is not a setting")
        }
      }
    }
    for kind in InputKind.allCases { records[kind] = fields[kind.name].flatMap(Self.list) }
    for (entry, list) in fields["inputs"]?.entries("an object with entries of the job as keys") ?? [] {
      let place = Place(field.faults.source, line: list.place?.line)
      foreign.append(Foreign(entry: entry, place: place, records: Self.list(list) ?? []))
    }
    if (Array(records.values) + foreign.map(\.records)).allSatisfy(\.isEmpty) {
      fields.refuse(nil, "has no records; write them under 'events', 'notifications', 'deepLinks' or 'inputs'")
    }
    guard let expect = fields.required("expect"), let wanted = expect.object() else { return }
    for expectation in Expectation.allCases {
      _ = wanted[expectation.rawValue]
      // Null is an expectation, too.
      expected[expectation] = expect.node[expectation.rawValue]
    }
    wanted.end()
    if expected.isEmpty {
      expect.refuse("is empty; known keys: \(Expectation.allCases.map(\.rawValue).joined(separator: ", "))")
    }
  }

  private static func list(_ field: Field) -> [JSONNode]? { field.value("an array of records", \.array) }
}
