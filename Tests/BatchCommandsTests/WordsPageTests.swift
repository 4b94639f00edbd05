import BatchFoundation
import BatchIngest
import BatchPipeline
import BatchReport
import BatchStore
import Engage
import EngageRules
import EventSchemas
import GameRules
import Games
import TestSupport
import Testing

/// docs/words.md has every word of the program's own lists, and no other.
@Suite("What does this word mean") struct WordsPageTests {
  struct Section: CustomTestStringConvertible, Sendable {
    var heading: String
    var words: [String]

    var testDescription: String { heading }
  }

  static let sections = [
    Section(heading: "Statuses of events", words: EventStatus.allCases.map(\.name)),
    Section(heading: "Nights", words: NightState.allCases.map(\.rawValue)),
    // Who was forgotten is in no quarantine.
    Section(
      heading: "Quarantine reasons", words: QuarantineReason.allCases.filter { $0 != .forgotten }.map(\.rawValue)),
    Section(heading: "Warnings", words: WarningKind.allCases.map(\.rawValue)),
    Section(heading: "Warnings of links", words: LinkWarning.Kind.allCases.map(\.rawValue)),
    Section(
      heading: "Warnings of tables and maps",
      words: [
        LineWarning.rowsInField(2).kind, LineWarning.shortRowKind, LineWarning.unreadEscape.kind,
        LineWarning.notANumber("", hasComma: false).kind, "empty-field", "record-id-again",
      ]),
    Section(heading: "Warnings of ids and clocks", words: ["unlikely-id", "future-record", "past-record"]),
    Section(
      heading: "Warnings of games",
      words: [
        GameWarning.Kind.incompleteReceipt.name, "ignored-TYPE", GameWarning.Kind.ignored(.location).name,
      ]),
    Section(heading: "Findings", words: FindingID.allCases.map(\.rawValue)),
    Section(heading: "Problems of a schema file", words: SchemaProblem.Kind.allCases.map(\.rawValue)),
    Section(heading: "Questions of games", words: DecisionFailure.Kind.allCases.map(\.rawValue)),
    Section(heading: "Triggers of games", words: TriggerResult.allCases.map(\.rawValue)),
    Section(heading: "Expirations", words: ExpirationText.Refusal.allCases.map(\.rawValue)),
    Section(
      heading: "Identity plans", words: MergeState.allCases.map(\.rawValue) + MergeScenario.allCases.map(\.rawValue)),
    Section(heading: "What arrived", words: Arrivals.Verdict.allCases.map(\.rawValue)),
    Section(heading: "Attempts", words: AttemptOutcome.allCases.map(\.name)),
  ]

  @Test("Each word of a list has a row in its section", arguments: sections)
  func rows(_ section: Section) throws {
    #expect(try Self.words(of: section.heading).sorted() == section.words.sorted())
  }

  @Test("Reasons and warnings are in the order in which they apply", arguments: sections[2...4])
  func order(_ section: Section) throws {
    #expect(try Self.words(of: section.heading) == section.words)
  }

  @Test("The sections of words are these")
  func headings() throws {
    let page = try Checkout.text("docs/words.md")
    #expect(page.matches(of: /\n## (.+)/).map { String($0.output.1) } == Self.sections.map(\.heading))
  }

  /// The words in back quotes in the first cells of a section's tables.
  private static func words(of heading: String) throws -> [String] {
    let page = try Checkout.text("docs/words.md")
    let start = try #require(page.firstRange(of: "\n## \(heading)\n")).upperBound
    let end = page[start...].firstRange(of: "\n## ")?.lowerBound ?? page.endIndex
    return page[start..<end].split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
      (row.dropFirst().split(separator: "|").first ?? "").matches(of: /`([^`]+)`/).map { String($0.output.1) }
    }
  }
}
