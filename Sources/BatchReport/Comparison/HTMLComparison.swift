import BatchFoundation

/// A comparison as a page of its own, in the style of reports.
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
    if !comparison.settings.isEmpty {
      line(
        #"""
        <section class="long"><h2>Settings</h2><table class="stack"><caption>Settings that differ</caption>
        <thead><tr><th scope="col">setting</th><th scope="col">as it is</th><th scope="col">with this</th></tr></thead><tbody>
        """#)
      lines(comparison.settings) {
        let remark: Markup = $0.remark.isEmpty ? "" : "<br>no effect: \($0.remark)"
        return
          #"<tr><th scope="row"><code>\#($0.name)</code></th><td data-label="as it is"><code>\#($0.before)</code></td><td data-label="with this"><code>\#($0.after)</code>\#(remark)</td></tr>"#
      }
      line("</tbody></table></section>")
    }
    for (title, figures) in comparison.tables {
      line(
        #"""
        <section class="long"><h2>\#(title)</h2><table class="stack"><caption class="heard">\#(title)</caption>
        <thead><tr><th scope="col"></th><th scope="col" class="number">as it is</th><th scope="col" class="number">with this</th><th scope="col" class="number">difference</th></tr></thead><tbody>
        """#)
      lines(figures) {
        let tone = $0.difference.isEmpty ? "" : "attention"
        return
          #"<tr><th scope="row">\#($0.name)</th><td class="number" data-label="as it is">\#($0.before.grouped)</td><td class="number" data-label="with this">\#($0.after.grouped)</td><td class="number \#(tone)" data-label="difference">\#($0.difference)</td></tr>"#
      }
      line("</tbody></table></section>")
    }
    addDevices(of: comparison)
  }

  private mutating func addDevices(of comparison: Comparison) {
    line(#"<section class="long"><h2>Devices</h2><p>\#(comparison.devicesInWords).</p>"#)
    if !comparison.examples.isEmpty {
      line(
        #"""
        <table class="stack"><caption>Devices that would have other events</caption>
        <thead><tr><th scope="col">device</th><th scope="col">what differs</th></tr></thead><tbody>
        """#)
      lines(comparison.examples) {
        let id = $0.id.text ?? "(left out)"
        // A hash stays on one line; an id in clear may be longer than any.
        return
          #"<tr><th scope="row"><code class="\#(id.utf8.count <= 24 ? "whole" : "")">\#(id)</code></th><td data-label="what differs">\#($0.words)</td></tr>"#
      }
      line("</tbody></table>")
    }
    line("</section>")
  }
}
