import BatchFoundation

extension MapProposal {
  /// Returns the map's document. If fields are missing or doubtful, the document has empty paths for missing fields,
  /// and a comment that lists all columns with an example value of each.
  ///
  /// - Parameters:
  ///   - record: the path of a record in its line; empty for the line itself.
  ///   - eventType: the type of events that have a name.
  package func document(_ form: ExportForm, record: [String] = [], eventType: String) -> String {
    var lines = form.words
    if let list = records.list { lines.append("\"each\": \(Self.quoted(list))") }
    if !record.isEmpty {
      lines.append("\"record\": \(Self.quoted(ExportColumns.written(record)))")
    }
    if !records.jsonColumns.isEmpty { lines.append(Self.list("jsonColumns", records.jsonColumns)) }
    if form.isTable, !columns.nulls.subtracting(["\\N"]).isEmpty {
      lines.append(Self.list("null", columns.nulls.union(["\\N"]).sorted()))
    }
    if form.isTable, !decimals.isEmpty { lines.append(#""decimal": ",""#) }
    var fields = missing.filter { $0 != "name" }.map { "    \(Self.quoted($0)): \"\"" }
    for field in self.fields where !["name", "action", "campaign"].contains(field.name) {
      fields.append(
        "    \(Self.quoted(field.name)): \(field.name == "timestamp" ? timeSource : Self.quoted(field.path))")
    }
    lines.append("\"fields\": {\n\(fields.joined(separator: ",\n"))\n  }")
    switch kind {
    case .deepLinks: break
    case .notifications: lines.append("\"rules\": [\n\(notificationRules.joined(separator: ",\n"))\n  ]")
    case .events: lines.append("\"rules\": [\n\(eventRule(eventType, form.isTable ? decimals : []))\n  ]")
    }
    let isWhole = missing.isEmpty && unsure.isEmpty && doubts.isEmpty
    return "{\n\(isWhole ? "" : comments)" + lines.map { "  \($0)" }.joined(separator: ",\n") + "\n}\n"
  }

  static func list(_ word: String, _ texts: [String]) -> String {
    "\"\(word)\": [\(texts.map(quoted).joined(separator: ", "))]"
  }

  private static func quoted(_ text: String) -> String { JSONString.quoted(text) }

  private var comments: String {
    let open = missing + unsure.map(\.name) + doubts
    let values = columns.columns.map { column in
      "  //   \(column.path.printable): \((column.texts.first ?? "").shortened(to: 60).printable)\n"
    }
    return "  // Fill in or check: \(open.joined(separator: ", ")). The columns, each with an example value:\n"
      + values.joined()
  }

  /// The columns of numbers with a decimal comma, as paths.
  var decimals: [String] {
    let taken = Set(fields.map(\.path))
    return columns.columns.filter { !taken.contains($0.path) && ColumnLook.haveDecimalCommas($0.texts) }.map(\.path)
  }

  private var timeSource: String {
    guard let time else { return "\"\"" }
    let paths = time.paths.map(Self.quoted)
    let path =
      paths.count == 1 ? "\"path\": \(paths[0])" : "\"paths\": [\(paths.joined(separator: ", "))], \"join\": \" \""
    let pattern = time.pattern.map { ", \"time\": \(Self.quoted($0))" } ?? ""
    return "{\(path)\(pattern), \"zone\": \(Self.quoted(zone))}"
  }

  private var notificationRules: [String] {
    var rules: [String] = []
    let none = (action?.values ?? [:]).filter { $0.value == nil }.keys.sorted()
    if let action, !none.isEmpty {
      rules.append(
        "    {\"when\": {\(Self.quoted(action.path)): [\(none.map(Self.quoted).joined(separator: ", "))]}, \"leaveOut\": \"neither received nor opened\"}"
      )
    }
    var fields: [String] = []
    if let action {
      let table = action.values.compactMap { key, value in value.map { "\(Self.quoted(key)): \(Self.quoted($0))" } }
        .sorted()
      fields.append(
        "\"action\": {\"path\": \(Self.quoted(action.path)), \"table\": {\(table.joined(separator: ", "))}, \"default\": \"unknown\"}"
      )
    } else {
      fields.append(#""action": {"constant": "received"}"#)
    }
    switch payload {
    case nil: fields.append(#""payload": {"constant": {"aps": {}}}"#)
    case "": fields.append(#""payload": {"members": "$"}"#)
    case let path?: fields.append("\"payload\": {\"members\": \(Self.quoted(path))}")
    }
    if let alert { fields.append("\"payload.aps.alert\": \(Self.quoted(alert))") }
    if let campaign { fields.append("\"payload.CurrentCampaign\": \(Self.quoted(campaign))") }
    rules.append("    {\n      \"fields\": {\n        \(fields.joined(separator: ",\n        "))\n      }\n    }")
    return rules
  }

  private func eventRule(_ eventType: String, _ numbers: [String]) -> String {
    let path = Self.quoted(name ?? "")
    let values = columns.columns.first { $0.path == name }?.values.sorted() ?? []
    let known = Self.lifecycle(values).map { "\(Self.quoted($0.name)): \(Self.quoted($0.type))" }
    var type = self.type.map { "{\"path\": \(Self.quoted($0))}" } ?? Self.quoted(eventType)
    if !known.isEmpty, self.type == nil {
      type = "{\"path\": \(path), \"table\": {\(known.joined(separator: ", "))}, \"default\": \(type)}"
    }
    // With this condition, no rule matches records without a name, so they are rejected for that reason.
    let when = name == nil || self.type != nil ? "" : "\"when\": {\(path): {\"exists\": true}},\n      "
    let attributes = columns.objects.filter { Self.attributeNames[$0.path] != nil }
      .max { Self.attributeNames[$0.path, default: 0] < Self.attributeNames[$1.path, default: 0] }
    let others = #"{"others": "$", "flatten": "."}"#
    let params = attributes.map { "[{\"others\": \(Self.quoted($0.path)), \"flatten\": \".\"}, \(others)]" } ?? others
    let fields = numbers.map { ", \(Self.quoted("params.\($0)")): {\"path\": \(Self.quoted($0)), \"as\": \"number\"}" }
      .joined()
    return """
          {
            \(when)"type": \(type),
            "fields": {"name": \(path), "params": \(params)\(fields)}
          }
      """
  }
}
