import FoundationEssentials
import TestSupport
import Testing

@Suite("Paths and names of CONTRIBUTING") struct HowToAddTests {
  private static func section() throws -> String {
    let text = try Checkout.text("CONTRIBUTING.md")
    return String(try #require(text.split(separator: "## How to add", maxSplits: 1).last))
  }

  @Test("Every path that pages name in code type exists", arguments: ["CONTRIBUTING.md", "docs/architecture.md"])
  func paths(page: String) throws {
    let paths = try Checkout.text(page).matches(
      of: /`((?:Sources|Tests|configs|docs|samples|jobs|scripts)\/[\w+.\/-]+)`/
    )
    .map { String($0.output.1) }
    #expect(paths.count > (page == "CONTRIBUTING.md" ? 30 : 1))
    #expect(paths.filter { !FileManager.default.fileExists(atPath: Checkout.url($0).path) } == [])
  }

  @Test("Each file has the names that the lists give for it") func names() throws {
    var count = 0
    func expect(_ name: Substring, in path: Substring) throws {
      guard path.hasSuffix(".swift") || path.hasSuffix(".json") else { return }
      count += 1
      let isThere = try Checkout.text(String(path)).split { !$0.isLetter && !$0.isNumber }.contains(name)
      #expect(isThere, "\(path): \(name)")
    }
    for line in try Self.section().split(separator: "\n") {
      for match in line.matches(of: /`(\w+)`(?: of this)? \(`([^`]+)`\)/) { try expect(match.1, in: match.2) }
      guard let list = line.firstMatch(of: /^- `([^`]+)`: (.*)$/), !list.1.contains("/Terminal/") else { continue }
      let own = list.2.split(separator: ";").first { !$0.contains("`Sources/") } ?? ""
      for match in own.matches(of: /`([A-Za-z]+)`/) { try expect(match.1, in: list.1) }
    }
    #expect(count > 15)
  }

  @Test("Tests that it names are there") func tests() throws {
    let files = try Checkout.files(below: "Tests").compactMap { $0.split(separator: "/").last }
    for match in try Self.section().matches(of: /`(\w+Tests)`/) {
      #expect(files.contains("\(match.1).swift"), "\(match.1)")
    }
  }

  @Test("The smallest platform has the lines that it says") func lines() throws {
    let parts = try Checkout.text("Tests/StepPlatform/StepPlatform.swift").split(separator: "// MARK: - ").dropFirst()
      .map { $0.split(separator: "\n").count - 1 }
    let said = try #require(
      Self.section().firstMatch(
        of: /its records take (\d+) lines, its rules (\d+), its wire form (\d+), its service (\d+)/))
    #expect([said.1, said.2, said.3, said.4].map { Int($0) } == parts)
  }
}
