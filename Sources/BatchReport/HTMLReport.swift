import Mustache

/// The report of a run for people: one HTML file without scripts and without anything loaded from elsewhere.
package struct HTMLReport: Sendable {
  private let template: MustacheTemplate

  /// - Throws: if the template that is compiled in cannot be read, which a test rules out.
  package init() throws {
    MustacheContentTypes.register(HTMLText(), named: HTMLText.name)
    template = try MustacheTemplate(string: Self.source)
  }

  /// The same report gives the same bytes.
  package func text(_ report: RunReport) -> String { template.render(HTMLPage(report)) }
}
