import BatchFoundation
import BatchSandbox

extension OrganizationSeed {
  /// Reads recipients, lists and tables from a JSON file; the format is in `docs/sandbox.md`.
  package init(json bytes: [UInt8]) throws {
    try self.init(try PlanReader.parse(bytes), path: "")
  }

  init(_ node: JSONNode, path: String) throws {
    self.init()
    let prefix = path.utf8.isEmpty ? "" : path + "."
    var reader = try PlanReader(node, path: path)
    for (index, node) in (try reader.array("lists") ?? []).enumerated() {
      var reader = try PlanReader(node, path: "\(prefix)lists[\(index)]")
      guard let id = try reader.string("id") else { throw reader.error("id", "is missing") }
      var list = List(id: id)
      if let name = try reader.string("name") { list.name = name }
      list.columns = try Self.columns(&reader)
      list.keyColumns = try Self.keys(&reader)
      try reader.finish()
      lists.append(list)
    }
    for (index, node) in (try reader.array("tables") ?? []).enumerated() {
      var reader = try PlanReader(node, path: "\(prefix)tables[\(index)]")
      guard let id = try reader.string("id") else { throw reader.error("id", "is missing") }
      var table = Table(id: id, columns: try Self.columns(&reader), keyColumns: try Self.keys(&reader))
      if let name = try reader.string("name") { table.name = name }
      try reader.finish()
      tables.append(table)
    }
    recipients = try Self.recipients(&reader, prefix)
    createsWhatIsMissing = try reader.bool("createsWhatIsMissing") ?? false
    try reader.finish()
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
