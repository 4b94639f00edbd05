import BatchFoundation
import GameRules
import Testing

@Suite struct NameUUIDTests {
  private let arena = Arena()

  @Test func `ids are those of the reference's sample`() {
    let launch: Text = """
      {"deviceId":"d-1","timestamp":"2026-01-05T10:00:00Z","type":"launch","device":{"name":"iPhone","version":"iPhone15,2","osName":"iOS","osVersion":"18.1","appVersion":"3.1","language":"en","country":"GB"}}
      """
    let key = NameUUID(line: launch, kind: .events)
    #expect(key.uuid("sessionID").text(in: arena) == "876F6F14-41B3-5359-BFD7-F39D391E628C")
    #expect(key.uuid("newPlayer", number: 0).text(in: arena) == "CE14CF3D-C7B5-5028-A8A6-EEE4F81A9DED")
    #expect(NameUUID.program.uuid("d-1").text(in: arena) == "0ECD5CA7-EF9B-5357-B410-B05A2F9D533C")
  }

  @Test func `a key is read back from its own text only`() {
    let key = NameUUID.deltaDNA.uuid("x")
    #expect(NameUUID(key.text(in: arena)) == key)
    #expect(key.text == key.upperText.lowercased())
    #expect(NameUUID("876f6f14-41b3-5359-bfd7-f39d391e628c") == nil)
    #expect(NameUUID("876F6F14-41B3-5359-BFD7-F39D391E628") == nil)
    #expect(NameUUID("876F6F1441B3-5359-BFD7-F39D391E628C0") == nil)
  }
}
