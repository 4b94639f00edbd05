import BatchFoundation
import BatchStore
import StoreSupport
import Testing

/// Compares with the writer of single texts, which goes a character at a time.
@Suite struct CanonicalJSONTests {
  private func written(_ text: String) -> String {
    var target = ByteBuffer(capacity: 0)
    let arena = Arena(blockSize: 64)
    withExtendedLifetime(arena) { CanonicalJSON.appendString(arena.text(text), to: &target) }
    return String(decoding: target.bytes, as: UTF8.self)
  }

  @Test(arguments: 0...40)
  func escapesEveryByteAtEveryPlace(place: Int) {
    for byte in UInt8(0)...0x7F {
      for behind in [0, 3, 7, 12, 40 - place] {
        let text =
          String(repeating: "x", count: place) + String(Unicode.Scalar(byte)) + String(repeating: "y", count: behind)
        #expect(written(text) == JSONString.quoted(text))
      }
    }
  }

  @Test(arguments: 1...100)
  func escapesTextsOfAnyLength(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var text = ""
    for _ in 0..<Int.random(in: 0...1500, using: &random) { text += EventBlockTests.text(&random) }
    #expect(Array(written(text).utf8) == Array(JSONString.quoted(text).utf8))
    // The block counts the bytes before it writes them.
    let fixtures = EventFixtures()
    let blocks = fixtures.blocks([fixtures.event(1, name: text)])
    #expect(try body(blocks.block(0)).utf8.count == blocks.entries[0].bodyBytes)
  }
}
