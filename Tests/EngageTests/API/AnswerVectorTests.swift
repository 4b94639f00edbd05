import BatchFoundation
import BatchWire
import TestSupport
import Testing

@testable import Engage

/// Every answer of the vectors, read into what it means.
@Suite struct AnswerVectorTests {
  static func vectors() throws -> [Vector] { try Vector.all("responses") }

  static func answer(_ vector: Vector) -> HTTPAnswer {
    HTTPAnswer(
      status: Int(vector["status"]?.integer ?? 0),
      fields: vector["content_type"]?.string.map { ["content-type": $0] } ?? [:],
      body: Array((vector["body"]?.string ?? "").utf8))
  }

  @Test func thereAreVectors() throws {
    #expect(try Self.vectors().count >= 35)
  }

  @Test(arguments: try vectors())
  func saysWhatItMeans(_ vector: Vector) throws {
    let expected = try #require(vector["expect"])
    let kind = try #require(expected["kind"]?.string)
    switch AnswerRules.readXMLAPI(Self.answer(vector), count: 1, now: 0) {
    case .expired(let status, _):
      #expect(["session_lost", "auth"].contains(kind))
      #expect(status == (kind == "auth" ? 401 : 200))
      return
    case .empty: Issue.record("read as empty")
    case .outcome(.refused(let refusal)):
      #expect(kind == "throttled")
      #expect(refusal.isThrottle)
      return
    case .outcome(.unknown): #expect(kind == "unparseable")
    case .outcome(.answered(let results)):
      let result = try #require(results.first)
      #expect(result.isSuccess == expected["success"]?.bool)
      #expect(result.text("RecipientId")?.trimmingBlanks() == expected["recipientId"]?.string)
      if let wanted = expected["columns"] { #expect(result.columns == columns(wanted)) }
      #expect(result.fault?.id == expected["errorId"]?.integer.map(Int.init))
      #expect(result.fault?.faultClass == expected["errorClass"]?.string)
      #expect(result.fault?.message == (expected["faultString"]?.string).map { ServiceWords($0).text })
      #expect(Self.kind(result) == kind)
      let failures = expected["failures"]?.array ?? []
      #expect(result.rowFailures.map(\.description) == failures.map { $0["description"]?.string ?? "" })
      #expect(result.rowFailures.map(\.isPermanent) == failures.map { $0["type"]?.string == "permanent" })
    case .outcome(let other): Issue.record("\(other)")
    }
  }

  static func kind(_ result: XMLAPIResult) -> String {
    guard let fault = result.fault else { return result.rowFailures.isEmpty ? "ok" : "row_failures" }
    return fault.kind.rawValue
  }

  @Test(arguments: try Vector.all("success_values"))
  func successIsSpelledInManyWays(_ vector: Vector) {
    #expect(XMLAPIResult.isSuccess(vector["value"]?.string ?? "?") == vector["tolerant"]?.bool)
  }

  @Test(arguments: try Vector.all("errors"))
  func theErrorTableIsWhole(_ vector: Vector) throws {
    let id = Int(try #require(vector["id"]?.integer))
    let kinds = [
      "perm": "permanent", "transient": "transient", "reauth": "expired", "notfound": "absent", "exists": "exists",
      "verify": "verify",
    ]
    let fault = ServiceFault(id: id, faultClass: nil, message: "words")
    #expect(fault.kind.rawValue == kinds[vector["class"]?.string ?? ""])
    #expect(fault.meaning == vector["meaning"]?.string)
    #expect(!fault.description.contains("words"))
  }

  @Test func theTableHasNothingMore() throws {
    #expect(
      try ServiceErrorTable.entries.keys.sorted()
        == Vector.all("errors").compactMap { $0["id"]?.integer.map(Int.init) }.sorted())
  }

  // MARK: - Shapes

  func parse(_ body: String, _ count: Int = 1) throws -> [XMLAPIResult] {
    try XMLAPIAnswer.parse(Array("<Envelope><Body>\(body)</Body></Envelope>".utf8), expecting: count)
  }

  @Test func severalResultsComeInOrder() throws {
    let ok = "<RESULT><SUCCESS>true</SUCCESS><RecipientId>1</RecipientId></RESULT>"
    let no = "<RESULT><SUCCESS>false</SUCCESS></RESULT><Fault><FaultString>a</FaultString></Fault>"
    let lone = "<Fault><FaultString>b</FaultString><error><errorid>128</errorid></error></Fault>"
    let results = try parse(ok + no + ok + lone, 4)
    #expect(results.map(\.isSuccess) == [true, false, true, false])
    #expect(results.map { $0.fault?.message } == [nil, "a", nil, "b"])
    #expect(results[3].fault?.kind == .absent)
  }

  @Test(arguments: [
    "<RESULT><SUCCESS>TRUE</SUCCESS><SUCCESS>TRUE</SUCCESS></RESULT>",
    "<RESULT><SUCCESS>TRUE</SUCCESS></RESULT><RESULT><SUCCESS>TRUE</SUCCESS></RESULT>",
    "<RESULT><SUCCESS>TRUE</SUCCESS></RESULT><Fault/>",
    "<SUCCESS>TRUE</SUCCESS>", "<result><SUCCESS>TRUE</SUCCESS></result>", "", "<x:RESULT xmlns:x='u'/>",
    "</Body><Body><RESULT><SUCCESS>TRUE</SUCCESS></RESULT>",
  ])
  func aStrangeShapeIsNoAnswer(_ body: String) {
    #expect(throws: XMLAPIAnswer.Fault.self) { try parse(body) }
  }

  /// The first of both was believed.
  @Test(arguments: ["2", "1", ""])
  func aRecipientThatIsNamedTwiceIsNobody(second: String) {
    let body =
      "<RESULT><SUCCESS>TRUE</SUCCESS><RecipientId>1</RecipientId><RecipientId>\(second)</RecipientId></RESULT>"
    #expect(throws: XMLAPIAnswer.Fault.shape("RecipientId occurs twice")) { try parse(body) }
  }

  @Test func aMisplacedOrMisspelledSuccessIsAFailure() throws {
    #expect(try parse("<RESULT><X><SUCCESS>TRUE</SUCCESS></X></RESULT>").first?.isSuccess == false)
    #expect(try parse("<RESULT><Success>TRUE</Success></RESULT>").first?.isSuccess == false)
    #expect(try parse("<RESULT/>").first?.isSuccess == false)
    #expect(try parse("<RESULT><SUCCESS>TR<!-- -->UE</SUCCESS></RESULT>").first?.isSuccess == true)
    #expect(try parse("<RESULT><SUCCESS>TRUE or not</SUCCESS></RESULT>").first?.isSuccess == false)
  }

  @Test func emailIsTakenFromEitherSpelling() throws {
    let both = try parse(
      "<RESULT><SUCCESS>TRUE</SUCCESS><EMAIL>a@x.test</EMAIL><Email>b@x.test</Email><RecipientId>74414233639</RecipientId></RESULT>"
    )
    let recipient = try RecipientImage(try #require(both.first))
    #expect(recipient["EMAIL"] == "a@x.test")
    #expect(recipient.id == "74414233639")
    let one = try parse("<RESULT><SUCCESS>TRUE</SUCCESS><Email>b@x.test</Email><RecipientId>1</RecipientId></RESULT>")
    #expect(try RecipientImage(try #require(one.first))["EMAIL"] == "b@x.test")
  }

  @Test func aSuccessWithoutRecipientIsNotBuiltOn() throws {
    let empty = try #require(try parse("<RESULT><SUCCESS>TRUE</SUCCESS><RecipientId/></RESULT>").first)
    #expect(throws: MissingField("RecipientId")) { try empty.required("RecipientId") }
  }

  @Test func jobAndListAnswersAreTyped() throws {
    let job = try #require(try Self.vectors().first { $0.testDescription == "job-complete" })
    let result = try #require(try XMLAPIAnswer.parse(Self.answer(job).body).first)
    let status = XMLAPIOperation.status(ofJob: "1")
    #expect(try status.read(result) == "COMPLETE")
    let canceled = try parse("<RESULT><SUCCESS>TRUE</SUCCESS><JOB_STATUS>CANCELLED</JOB_STATUS></RESULT>")
    #expect(try status.read(try #require(canceled.first)) == "CANCELLED")

    let list = try #require(try Self.vectors().first { $0.testDescription == "get-list-meta-ok" })
    let meta = try ListDescription(try #require(try XMLAPIAnswer.parse(Self.answer(list).body).first))
    #expect(meta.columns.map(\.name).suffix(2) == ["Merged Recipient Id", "Merged Date"])
    #expect(meta.columns.last?.type == "17")
    #expect(meta.columns.first?.type == nil)
    #expect(meta.keyColumns == [])
  }
}
