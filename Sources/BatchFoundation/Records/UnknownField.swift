/// A field of records that the format does not know, which was ignored.
package struct UnknownField: Sendable, Equatable, Codable {
  package var name: String
  package var records: Int

  package init(name: String, records: Int) {
    self.name = name
    self.records = records
  }
}
