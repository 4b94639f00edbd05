import TestSupport
import Testing

/// Pages that tell people what to type.
@Suite("Commands of pages") struct PageCommandTests {
  /// The lines of all blocks for a shell, in their order.
  private static func script(of page: String) throws -> String {
    var isInside = false
    var lines: [Substring] = []
    for line in try Checkout.text(page).split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line == "```sh"
      } else if isInside {
        lines.append(line)
      }
    }
    return lines.joined(separator: "\n")
  }

  @Test(
    "Every command runs as it stands, in the order of the page",
    arguments: ["cookbook", "getting-started"])
  func commands(page: String) throws {
    let script = try Self.script(of: "docs/\(page).md")
    #expect(script.contains("engage-batch "))
    let finished = try Workspace().shell("set -e\n\(script)")
    #expect(finished.code == 0, "\(finished.messages.suffix(2000))")
  }
}
