import BatchFoundation

extension OrganizationSeed {
  /// Reads recipients, lists and tables from a JSON file; the format is in `docs/sandbox.md`.
  package init(json bytes: [UInt8]) throws {
    try self.init(try PlanReader.parse(bytes), path: "")
  }

  init(_ node: JSONNode, path: String) throws {
    self.init()
    let prefix = path.utf8.isEmpty ? "" : path + "."
    var reader = try PlanReader(node, path: path)
    lists = try Self.tables("lists", &reader, prefix)
    tables = try Self.tables("tables", &reader, prefix)
    recipients = try Self.recipients(&reader, prefix)
    createsWhatIsMissing = try reader.bool("createsWhatIsMissing") ?? false
    try reader.finish()
  }

  private static func tables(_ member: String, _ reader: inout PlanReader, _ prefix: String) throws -> [Table] {
    try (try reader.array(member) ?? []).enumerated().map { index, node in
      var reader = try PlanReader(node, path: "\(prefix)\(member)[\(index)]")
      guard let id = try reader.string("id") else { throw reader.error("id", "is missing") }
      let table = Table(
        id: id, name: try reader.string("name"), columns: try columns(&reader), keyColumns: try keys(&reader))
      try reader.finish()
      return table
    }
  }

  private static func columns(_ reader: inout PlanReader) throws -> [Column] {
    try (try reader.array("columns") ?? []).enumerated().map { index, node in
      if let name = node.string { return Column(name) }
      var column = try PlanReader(node, path: "\(reader.path).columns[\(index)]")
      guard let name = try column.string("name") else { throw column.error("name", "is missing") }
      let number = try column.integer("type", 0...20) ?? 0
      guard let type = ColumnType(rawValue: Int(number)) else {
        throw column.error("type", "\(number) is not a column type")
      }
      let required = try column.bool("required") ?? false
      try column.finish()
      return Column(name, type, isRequired: required)
    }
  }

  private static func keys(_ reader: inout PlanReader) throws -> [String] {
    try (try reader.array("keyColumns") ?? []).map { node in
      guard let name = node.string else { throw reader.error("keyColumns", "is not an array of strings") }
      return name
    }
  }

  /// `{"id": 900000000202, "list": "50001", "values": {"customer_id": "c-1"}}`, id and list optional.
  private static func recipients(_ reader: inout PlanReader, _ prefix: String) throws -> [Recipient] {
    try (try reader.array("recipients") ?? []).enumerated().map { index, node in
      var recipient = try PlanReader(node, path: "\(prefix)recipients[\(index)]")
      let id = try recipient.integer("id", 1...CountedNumber.range.upperBound)
      let list = try recipient.string("list")
      let values = try recipient.strings("values") ?? [:]
      try recipient.finish()
      return Recipient(id: id, list: list, values: values)
    }
  }
}
