import BatchFoundation
import EventSchemas
import TestSupport
import Testing

@Suite struct NameVectorTests {
  @Test(arguments: try Vectors.cases("deltadna", "vectors") { $0["area"]?.string == "schema" })
  func namesAreJudged(vector: VectorCase) throws {
    let arena = Arena()
    let name = arena.text(try #require(vector["given", "name"]?.string))
    #expect(NameRules.isEventName(name) == vector["expect", "validEventName"]?.bool)
    #expect(NameRules.isParameterName(name) == vector["expect", "validParameterName"]?.bool)
  }
}
