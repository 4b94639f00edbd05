import BatchFoundation
import Mustache

/// A comparison as a page of its own, in the style of reports: no scripts, nothing loaded from elsewhere.
package struct HTMLComparison: Sendable {
  private let template: MustacheTemplate

  /// - Throws: if the template that is compiled in cannot be read, which a test rules out.
  package init() throws {
    MustacheContentTypes.register(HTMLText(), named: HTMLText.name)
    template = try MustacheTemplate(string: Self.source)
  }

  package func text(_ comparison: Comparison) -> String { template.render(Page(comparison)) }

  private struct Page {
    struct Table {
      var title: String
      var rows: [Row]
    }

    struct Row {
      var name: String
      var before: String
      var after: String
      var difference: String
      var tone: String
    }

    struct Device {
      var id: String
      var words: String
    }

    var job: String
    var ending: String
    var tone: String
    var asOf: String
    var settings: [Row]
    var tables: [Table]
    var devices: String
    var examples: [Device]

    init(_ comparison: Comparison) {
      job = comparison.job
      ending = comparison.isSame ? "nothing would change" : "something would change"
      tone = comparison.isSame ? "good" : "attention"
      asOf = comparison.asOf.rfc3339
      settings = comparison.settings.map {
        Row(name: $0.name, before: $0.before, after: $0.after, difference: $0.remark, tone: "")
      }
      tables = comparison.tables.map { title, figures in
        Table(
          title: title,
          rows: figures.map {
            Row(
              name: $0.name, before: $0.before.grouped, after: $0.after.grouped,
              difference: $0.difference, tone: $0.difference.isEmpty ? "" : "attention")
          })
      }
      devices = comparison.devicesInWords
      examples = comparison.examples.map { Device(id: $0.id.text ?? "(left out)", words: $0.words) }
    }
  }

  private static let source =
    #"""
    {{% CONTENT_TYPE:REPORT}}
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
    <meta name="generator" content="engage-batch">
    <title>{{job}}: what would change - engage-batch</title>
    <style>

    """# + HTMLReport.style + #"""

      </style>
      </head>
      <body>
      <main>
      <header><h1>{{job}}: what would change</h1><span class="badge {{tone}}">{{ending}}</span></header>
      <p>Decided twice from the inputs of the job alone, as of {{asOf}}: as it is, and with the settings below.</p>
      {{^empty(settings)}}
      <section class="long"><h2>Settings</h2><table class="stack"><caption>Settings that differ</caption>
      <thead><tr><th scope="col">setting</th><th scope="col">as it is</th><th scope="col">with this</th></tr></thead><tbody>
      {{#settings}}
      <tr><th scope="row"><code>{{name}}</code></th><td data-label="as it is"><code>{{before}}</code></td><td data-label="with this"><code>{{after}}</code>{{^empty(difference)}}<br>no effect: {{difference}}{{/empty(difference)}}</td></tr>
      {{/settings}}
      </tbody></table></section>
      {{/empty(settings)}}
      {{#tables}}
      <section class="long"><h2>{{title}}</h2><table class="stack"><caption class="heard">{{title}}</caption>
      <thead><tr><th scope="col"></th><th scope="col" class="number">as it is</th><th scope="col" class="number">with this</th><th scope="col" class="number">difference</th></tr></thead><tbody>
      {{#rows}}
      <tr><th scope="row">{{name}}</th><td class="number" data-label="as it is">{{before}}</td><td class="number" data-label="with this">{{after}}</td><td class="number {{tone}}" data-label="difference">{{difference}}</td></tr>
      {{/rows}}
      </tbody></table></section>
      {{/tables}}
      <section class="long"><h2>Devices</h2><p>{{devices}}.</p>
      {{^empty(examples)}}
      <table class="stack"><caption>Devices that would have other events</caption>
      <thead><tr><th scope="col">device</th><th scope="col">what differs</th></tr></thead><tbody>
      {{#examples}}
      <tr><th scope="row"><code>{{id}}</code></th><td data-label="what differs">{{words}}</td></tr>
      {{/examples}}
      </tbody></table>
      {{/empty(examples)}}
      </section>
      </main>
      </body>
      </html>

      """#
}
