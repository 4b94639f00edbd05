import BatchFoundation

/// A comparison as text for terminals and as JSON for programs.
package enum ComparisonText {
  package static func lines(_ comparison: Comparison) -> [String] {
    var lines = ["\(comparison.job): what would change, by its inputs alone, as of \(comparison.asOf.rfc3339)"]
    lines += comparison.settings.map {
      "  \($0.name): \($0.before) -> \($0.after)" + ($0.remark.isEmpty ? "" : " (no effect: \($0.remark))")
    }
    if comparison.settings.isEmpty { lines.append("  no setting differs") }
    let tables = comparison.tables
    let width = (tables.flatMap(\.figures).map { $0.name.printable.unicodeScalars.count }.max() ?? 0) + 2
    for (title, figures) in tables {
      lines += ["", title.filled(to: width + 2) + right("as it is") + right("with this")]
      lines += figures.map {
        "  " + $0.name.printable.filled(to: width) + right($0.before.grouped)
          + right($0.after.grouped) + ($0.difference.isEmpty ? "" : right($0.difference))
      }
    }
    lines += ["", comparison.devicesInWords]
    lines += comparison.examples.map { "  \($0.id.text ?? "(left out)"): \($0.words)" }
    return lines
  }

  /// Returns JSON that ends with a line end.
  package static func json(_ comparison: Comparison) -> String {
    func figures(_ figures: [Comparison.Figure]) -> JSONNode {
      .array(
        figures.map {
          ["name": .text($0.name), "before": .number($0.before), "after": .number($0.after)]
        })
    }
    let document: JSONNode = [
      "job": .text(comparison.job), "asOf": .text(comparison.asOf.rfc3339),
      "settings": .array(
        comparison.settings.map {
          [
            "name": .text($0.name), "before": .text($0.before), "after": .text($0.after),
            "hasEffect": .flag($0.hasEffect),
          ]
        }),
      "figures": figures(comparison.figures), "events": figures(comparison.events),
      "campaigns": figures(comparison.campaigns), "devices": .number(comparison.devices),
      "changedDevices": .number(comparison.changedDevices),
      "examples": .array(
        comparison.examples.map {
          ["device": .text($0.id.text), "changes": figures($0.changes)]
        }),
    ]
    return document.text() + "\n"
  }

  private static func right(_ text: String) -> String {
    String(repeating: " ", count: max(1, 12 - text.unicodeScalars.count)) + text
  }
}
