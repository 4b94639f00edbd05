package import BatchFoundation

/// The effects that other settings would have on a job.
package struct Comparison: Sendable, Equatable {
  package struct Setting: Sendable, Equatable {
    package var name: String
    package var before: String
    package var after: String
    /// False if a job for this platform does not read the setting.
    package var hasEffect: Bool

    package init(name: String, before: String, after: String, hasEffect: Bool) {
      self.name = name
      self.before = before
      self.after = after
      self.hasEffect = hasEffect
    }
  }

  package struct Figure: Sendable, Equatable {
    /// The name in words, followed by the event code if there is one.
    package var name: String
    package var before: Int
    package var after: Int

    package init(_ name: String, _ before: Int, _ after: Int) {
      self.name = name
      self.before = before
      self.after = after
    }
  }

  /// A device whose events would differ.
  package struct Device: Sendable, Equatable {
    package var id: RedactedText
    /// The differences; empty if only attributes of the events differ.
    package var changes: [Figure]

    package init(id: RedactedText, changes: [Figure]) {
      self.id = id
      self.changes = changes
    }
  }

  package var job: String
  package var asOf: Instant
  package var settings: [Setting]
  /// Figures for records, sessions, campaigns and identity.
  package var figures: [Figure] = []
  package var events: [Figure] = []
  /// The events that carry a campaign, by campaign name; the greatest differences first.
  package var campaigns: [Figure] = []
  package var devices = 0
  package var changedDevices = 0
  /// The first devices that change, ordered by the bytes of their ids.
  package var examples: [Device] = []

  package init(job: String, asOf: Instant, settings: [Setting]) {
    self.job = job
    self.asOf = asOf
    self.settings = settings
  }

  /// Whether nothing would change.
  package var isSame: Bool { changedDevices == 0 && figures.allSatisfy { $0.before == $0.after } }

  var tables: [(key: String, title: String, figures: [Figure])] {
    [
      ("figures", "In figures", figures), ("events", "Events by type", events),
      ("campaigns", "Events by campaign", campaigns),
    ]
  }

  var devicesInWords: String {
    let changed =
      "\(changedDevices.grouped) of \(devices.counted("device")) would have different events"
    return examples.count < changedDevices ? changed + "; the first \(examples.count) are shown" : changed
  }

  package var facts: Facts {
    func list(_ figures: [Figure]) -> JSONNode {
      .array(figures.map { ["name": .text($0.name), "before": .number($0.before), "after": .number($0.after)] })
    }
    func right(_ text: String) -> String {
      String(repeating: " ", count: max(1, 12 - text.unicodeScalars.count)) + text
    }
    var facts: Facts = ["job": .text(job)]
    facts.add(
      "asOf", .text(asOf.rfc3339), "\(job): what would change, from its inputs alone, as of \(asOf.rfc3339)")
    facts.add(
      "settings",
      .array(
        settings.map {
          [
            "name": .text($0.name), "before": .text($0.before), "after": .text($0.after),
            "hasEffect": .flag($0.hasEffect),
          ]
        }),
      settings.isEmpty
        ? ["  no setting differs"]
        : settings.map {
          "  \($0.name): \($0.before) -> \($0.after)" + ($0.remark.isEmpty ? "" : " (no effect: \($0.remark))")
        })
    let width = (tables.flatMap(\.figures).map { $0.name.printable.unicodeScalars.count }.max() ?? 0) + 2
    for (key, title, figures) in tables {
      let head = figures.isEmpty ? [] : ["", title.filled(to: width + 2) + right("before") + right("after")]
      facts.add(
        key, list(figures),
        head
          + figures.map {
            "  " + $0.name.printable.filled(to: width) + right($0.before.grouped) + right($0.after.grouped)
              + ($0.difference.isEmpty ? "" : right($0.difference))
          })
    }
    facts.add("devices", .number(devices), "", devicesInWords)
    facts.add("changedDevices", .number(changedDevices))
    facts.add(
      "examples", .array(examples.map { ["device": .text($0.id.text), "changes": list($0.changes)] }),
      examples.map { "  \($0.id.text ?? "(left out)"): \($0.words)" })
    return facts
  }
}

extension Comparison.Setting {
  /// A note for a setting without effect; empty otherwise.
  var remark: String { hasEffect ? "" : "jobs with this destination do not use it" }
}

extension Comparison.Figure {
  /// The difference with its sign; empty for none.
  var difference: String {
    guard before != after else { return "" }
    return (after > before ? "+" : "") + (after - before).grouped
  }
}

extension Comparison.Device {
  var words: String {
    changes.isEmpty
      ? "the same events with different attributes"
      : changes.map { "\($0.name) \($0.before) -> \($0.after)" }.joined(separator: ", ")
  }
}

package enum HTMLComparison {
  package static func text(_ comparison: Comparison) -> String {
    Markup.page(title: "\(comparison.job): what would change") { $0.add(comparison) }
  }
}

extension Markup {
  fileprivate mutating func add(_ comparison: Comparison) {
    let (tone, ending) =
      comparison.isSame ? ("good", "nothing would change") : ("attention", "something would change")
    line(
      #"""
      <header><h1>\#(comparison.job): what would change</h1><span class="badge \#(tone)">\#(ending)</span></header>
      <p>The inputs of the job alone, as of \#(comparison.asOf.rfc3339), processed with its settings (before) and with those below (after).</p>
      """#)
    addTable(
      "Settings", "Settings that differ", comparison.settings,
      [
        .code("setting", \.name), .code("before", \.before),
        Column("after") { setting in
          let remark: Markup = setting.remark.isEmpty ? "" : "<br>no effect: \(setting.remark)"
          return "<code>\(setting.after)</code>\(remark)"
        },
      ])
    for (_, title, figures) in comparison.tables {
      addTable(
        title, nil, figures,
        [
          Column("", cell: { "\($0.name)" }), .figure("before", \.before), .figure("after", \.after),
          Column("difference", kind: "number", classes: { $0.difference.isEmpty ? "number " : "number attention" }) {
            "\($0.difference)"
          },
        ])
    }
    line(#"<section class="long"><h2>Devices</h2><p>\#(comparison.devicesInWords).</p>"#)
    if !comparison.examples.isEmpty {
      line(
        .table(
          "Devices that would have different events", comparison.examples,
          [
            Column("device") { device in
              let id = device.id.text ?? "(left out)"
              // A hash stays on one line; an id in clear may be longer than a line.
              return #"<code class="\#(id.utf8.count <= 24 ? "whole" : "")">\#(id)</code>"#
            },
            .text("what differs", \.words),
          ]))
    }
    line("</section>")
  }
}
