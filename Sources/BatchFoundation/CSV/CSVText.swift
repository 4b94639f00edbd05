/// Writes comma-separated values.
package enum CSVText {
  /// A row with its line end, every field in quotes.
  package static func line(_ fields: [String]) -> String {
    fields.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\n"
  }
}
