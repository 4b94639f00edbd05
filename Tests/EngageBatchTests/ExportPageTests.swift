import FoundationEssentials
import TestSupport
import Testing

/// The files that `docs/exports.md` shows are read by the jobs below them.
@Suite("My export looks like this") struct ExportPageTests {
  struct Section: CustomTestStringConvertible, Sendable {
    var title: String
    /// The lines of the file, the job, and the map where there is one.
    var blocks: [String]

    var testDescription: String { title }
  }

  /// A section whose job reads lines that are not on the page.
  private static let remote = "Exports in a bucket"

  static func sections() throws -> [Section] {
    try Checkout.text("docs/exports.md").split(separator: "\n## ").dropFirst().map { text in
      var blocks: [String] = []
      var block: [Substring]?
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("```") {
          if let done = block { blocks.append(done.map { $0 + "\n" }.joined()) }
          block = block == nil ? [] : nil
        } else {
          block?.append(line)
        }
      }
      return Section(title: String(text.prefix { $0 != "\n" }), blocks: blocks)
    }.filter { !$0.blocks.isEmpty && $0.title != remote }
  }

  @Test("A job of the page reads the lines above it, and all of them", arguments: try sections())
  func job(_ section: Section) throws {
    let workspace = try Workspace([])
    #expect(section.blocks.count == 2 || section.blocks.count == 3)
    let job = section.blocks[1]
    let named = job.matches(of: /"([a-z]+\.(?:ndjson|json|csv|tsv))"/).map { String($0.output.1) }
    try workspace.write(try #require(named.first), section.blocks[0])
    try workspace.write("job.json", job)
    if section.blocks.count == 3 { try workspace.write("map.json", section.blocks[2]) }
    let run = try workspace.run("run", "job.json", "--dry-run", "--summary", "-")
    let summary = try Summary(run.output)
    #expect(run.code == 0 && summary["records.accepted"] == 2 && summary["records.read"] == 2, "\(run.messages)")
  }

  @Test("What 'init --from' makes of the lines reads them too, or says what it cannot know", arguments: try sections())
  func proposal(_ section: Section) throws {
    let workspace = try Workspace([])
    let named = section.blocks[1].matches(of: /"([a-z]+\.(?:ndjson|json|csv|tsv))"/).map { String($0.output.1) }
    let file = try #require(named.first)
    try workspace.write(file, section.blocks[0])
    let made = try workspace.run("init", "shop", "--from", file)
    guard made.code == 0 else {
      #expect(made.code == 65 && section.title == "A table without a header", "\(made.messages)")
      return
    }
    let run = try workspace.run("run", "shop/job.json", "--dry-run", "--summary", "-")
    #expect(try Summary(run.output)["records.accepted"] == 2, "\(run.messages)")
  }
}
