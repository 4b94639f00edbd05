import BatchFoundation

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
      <p>Decided twice from the inputs of the job alone, as of \#(comparison.asOf.rfc3339): as it is, and with the settings below.</p>
      """#)
    addTable(
      "Settings", "Settings that differ", comparison.settings,
      [
        .code("setting", \.name), .code("as it is", \.before),
        Column("with this") { setting in
          let remark: Markup = setting.remark.isEmpty ? "" : "<br>no effect: \(setting.remark)"
          return "<code>\(setting.after)</code>\(remark)"
        },
      ])
    for (_, title, figures) in comparison.tables {
      addTable(
        title, nil, figures,
        [
          Column("", cell: { "\($0.name)" }), .figure("as it is", \.before), .figure("with this", \.after),
          Column("difference", kind: "number", classes: { $0.difference.isEmpty ? "number " : "number attention" }) {
            "\($0.difference)"
          },
        ])
    }
    line(#"<section class="long"><h2>Devices</h2><p>\#(comparison.devicesInWords).</p>"#)
    if !comparison.examples.isEmpty {
      line(
        .table(
          "Devices that would have other events", comparison.examples,
          [
            Column("device") { device in
              let id = device.id.text ?? "(left out)"
              // A hash stays on one line; a clear id may be longer than a line.
              return #"<code class="\#(id.utf8.count <= 24 ? "whole" : "")">\#(id)</code>"#
            },
            .text("what differs", \.words),
          ]))
    }
    line("</section>")
  }
}
