import BatchFoundation
import BatchWire
import TestSupport
import Testing

@testable import Engage

/// Damaged answers end as a typed outcome, and no damage makes a failure a success.
@Suite struct AnswerMutationTests {
  @Test(arguments: UInt64(1)...40)
  func damagedAnswers(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let seeds = try Vector.all("responses").map(AnswerVectorTests.answer)
    for _ in 0..<100 {
      guard var answer = seeds.randomElement(using: &random), !answer.body.isEmpty else { continue }
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let at = Int.random(in: 0..<max(answer.body.count, 1), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: answer.body[at] = UInt8.random(in: 0...255, using: &random)
        case 1: answer.body.removeSubrange(at...)
        case 2: answer.body.insert(contentsOf: Array("<SUCCESS>TRUE</SUCCESS>".utf8), at: at)
        default: answer.body.replaceSubrange(at..<min(at + 9, answer.body.count), with: Array("<!DOCTYPE".utf8))
        }
        if answer.body.isEmpty { break }
      }
      answer.status = [200, 200, 200, 201, 400, 401, 500].randomElement(using: &random) ?? 200
      if case .outcome(.answered(let results)) = AnswerRules.readXMLAPI(answer, count: 1, now: 0) {
        #expect(results.count == 1)
        #expect(results.allSatisfy { $0.isSuccess == ($0.fault == nil) })
      }
      _ = AnswerRules.readSubmission(answer, now: 0)
      _ = AnswerRules.readJSON(answer, now: 0)
      _ = TokenAnswer.read(answer, now: 0)
    }
  }

  /// A cut answer is never read as one.
  @Test func noPrefixIsAnAnswer() {
    let whole = Array(EngageServiceTests.result().utf8)
    for count in 1..<whole.count {
      #expect(throws: XMLAPIAnswer.Fault.self) { try XMLAPIAnswer.parse(Array(whole[..<count])) }
    }
  }
}
