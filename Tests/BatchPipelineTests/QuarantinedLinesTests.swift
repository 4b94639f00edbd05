import BatchFoundation
import BatchIngest
import BatchStore
import EngageRules
import Testing

@testable import BatchPipeline

@Suite struct QuarantinedLinesTests {
  private func line(_ file: String, _ number: UInt64, _ reason: QuarantineReason) -> QuarantinedLine {
    QuarantinedLine(file: file, line: number, offset: number * 10, reason: reason, detail: "", raw: [])
  }

  private func places(_ lines: [QuarantinedLine]) -> [String] { lines.map { "\($0.file):\($0.line)" } }

  private var found: [QuarantinedLine] {
    (1...40).map { line("a", $0, .invalidJSON) } + [line("a", 90, .wrongType), line("b", 7, .invalidJSON)]
      + (1...3).map { line("c", $0, .unknownType) }
  }

  @Test func examplesCoverReasonsAndFilesBeforeTheyRepeatOne() {
    let lines = QuarantinedLines(atMost: 20, RecordVocabulary.engage.dictionary)
    lines.add(found)
    #expect(places(lines.examples(atMost: 4)) == ["a:1", "a:90", "b:7", "c:1"])
    #expect(places(lines.examples(atMost: 6)) == ["a:1", "a:2", "a:90", "b:7", "c:1", "c:2"])
    #expect(lines.examples(atMost: 20).count == 20)
    #expect(places(lines.examples(atMost: 20)).suffix(5) == ["a:90", "b:7", "c:1", "c:2", "c:3"])
    #expect(places(lines.first) == (1...20).map { "a:\($0)" })
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func examplesDoNotDependOnTheOrderInWhichLinesAreFound(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let many =
      (0..<400).map { number in
        line("f\(number % 23)", UInt64(number), [.invalidJSON, .wrongType, .missingField][number % 3])
      }
    let ordered = QuarantinedLines(atMost: 20, RecordVocabulary.engage.dictionary)
    ordered.add(many)
    let shuffled = QuarantinedLines(atMost: 20, RecordVocabulary.engage.dictionary)
    for line in many.shuffled(using: &random) { shuffled.add([line]) }
    #expect(places(shuffled.examples(atMost: 20)) == places(ordered.examples(atMost: 20)))
    #expect(places(shuffled.first) == places(ordered.first))
  }
}
