import BatchFoundation
import BatchIngest
import BatchReport
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

  /// Of 700 causes, 500 are kept: the first 500 in order.
  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func causesDoNotDependOnTheOrderInWhichLinesAreFound(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let letters = Array("abcdefghijklmnopqrstuvwxyz{").map(String.init)
    let many = (0..<1400).map { number in
      QuarantinedLine(
        file: "f", line: UInt64(number), offset: 0, reason: .wrongType,
        detail: letters[number % 700 / 27] + letters[number % 700 % 27], raw: [])
    }
    var causes = CauseTally(RecordVocabulary.engage.dictionary)
    for line in many.shuffled(using: &random) { causes.add(line) }
    #expect(causes.causes.count == 501 && causes.causes.map(\.count).reduce(0, +) == 1400)
    let others = try #require(causes.causes.first)
    #expect(others.count == 400 && others.line == 500)
    #expect(causes.causes.dropFirst().allSatisfy { $0.count == 2 })
    #expect(causes.causes.dropFirst().map(\.line) == Array(0..<500))
  }
}
