import Testing

@testable import BatchFoundation

@Suite struct NearestNameTests {
  @Test(arguments: [
    ("maxNumRetrys", "maxNumRetries"), ("MAXNUMRETRIES", "maxNumRetries"), ("maxNumRertise", "maxNumRetries"),
    ("secureConection", "secureConnection"), ("maxRetries", "maxNumRetries"),
  ])
  func findsWhatWasMeant(name: String, expected: String) {
    #expect(NearestName.of(name, among: ["secureConnection", "maxNumRetries"]) == expected)
  }

  @Test func findsNothingFarAway() {
    #expect(NearestName.of("colour", among: ["secureConnection", "maxNumRetries"]) == nil)
    #expect(NearestName.of("", among: []) == nil)
  }

  @Test(arguments: [("", "", 0), ("a", "", 1), ("ab", "ba", 1), ("kitten", "sitting", 3), ("ca", "abc", 3)])
  func countsEdits(one: String, other: String, expected: Int) {
    #expect(NearestName.distance(Array(one.utf8), Array(other.utf8)) == expected)
  }
}
