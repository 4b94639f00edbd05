import BatchFoundation
import Testing

@testable import BatchReport

@Suite struct PersonalDataTests {
  /// Computed with Python's `hmac` over the key 0, 1, ... 31.
  @Test(arguments: [
    ("A1F0C9D2-0001", "d6bcef664c227ce7"), ("rec-7", "71fb5599c670acdb"), ("caf\u{E9}", "08e9f6a160b03803"),
    ("cafe\u{301}", "7dab158648c7194d"), ("", ""),
  ])
  func hashesIdsByTheirBytesWithTheKeyOfTheStore(id: String, hash: String) {
    #expect(PersonalData.fixture(.hash).id(id).text == hash)
  }

  @Test func anotherKeyGivesAnotherHash() {
    #expect(PersonalData(.hash, key: [1]).id("rec-7") != PersonalData(.hash, key: [2]).id("rec-7"))
  }

  @Test func leavesIdsOutOrShowsThem() {
    #expect(PersonalData.fixture(.omit).id("rec-7").text == nil)
    #expect(PersonalData.fixture(.clear).id("rec-7").text == "rec-7")
  }

  @Test(arguments: [PersonalDataPolicy.omit, .hash])
  func showsNoContentUnlessAskedTo(policy: PersonalDataPolicy) {
    #expect(PersonalData.fixture(policy).content(Array("a@example.test".utf8)).text == nil)
  }

  @Test func showsTheBeginningOfALongContent() {
    #expect(PersonalData.fixture(.clear).content(Array("abcdef".utf8), limit: 4).text == "abcd… (6 bytes)")
    #expect(PersonalData.fixture(.clear).content([0x61, 0xFF]).text == "a\u{FFFD}")
  }
}
