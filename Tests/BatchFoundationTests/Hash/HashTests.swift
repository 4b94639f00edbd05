import BatchFoundation
import Testing

/// Test values of FIPS 180-4, RFC 1321, RFC 4231 and RFC 9562.
@Suite struct HashTests {
  @Test func hashesAsTheStandardsSay() {
    #expect(
      Hexadecimal.text(of: SHA256.hash("abc"))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      Hexadecimal.text(of: SHA256.hash(""))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(Hexadecimal.text(of: SHA1.hash("abc")) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(Hexadecimal.text(of: MD5.hash("message digest")) == "f96b697d7cb7938d525a2f31aaf161d0")
  }

  @Test func aStartedHashIsContinuedTwice() {
    var one = SHA256()
    one.update("ab")
    var other = one
    one.update("c")
    other.update([UInt8(ascii: "c")])
    #expect(one.finalize() == SHA256.hash("abc"))
    #expect(other.finalize() == SHA256.hash("abc"))
  }

  @Test func authenticatesWithAKey() {
    let key = MessageAuthenticationCode(key: Array("Jefe".utf8))
    #expect(
      Hexadecimal.text(of: key.code(for: Array("what do ya want for nothing?".utf8)))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      Hexadecimal.text(of: MessageAuthenticationCode(key: []).code(for: []))
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test func namesInANamespace() {
    #expect(NameUUID.dns.uuid(named: "www.example.com").text == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
  }

  /// Every length, and messages of all lengths beside each other, as libcrypto hashes them.
  @Test(arguments: SHA1Lanes.widths) func hashesMessagesInLanesAsOneByOne(bits: Int) {
    let lanes = SHA1Lanes(bits: bits)
    var random = SplitMix64(seed: 4711)
    var lengths = Array(0...SHA1Lanes.longestMessage).shuffled(using: &random)
    while !lengths.isEmpty {
      let messages = lengths.suffix(.random(in: 1...SHA1Lanes.count, using: &random)).map { length in
        (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      }
      lengths.removeLast(messages.count)
      lanes.reset()
      for message in messages {
        let cut = Int.random(in: 0...message.count, using: &random)
        let isIn = unsafe message.withUnsafeBytes { bytes in
          unsafe lanes.add(.init(rebasing: bytes[..<cut]), .init(rebasing: bytes[cut...]))
        }
        #expect(isIn)
      }
      lanes.hash()
      for (lane, message) in messages.enumerated() {
        let (high, low) = lanes.leadingWords(lane)
        let words = [high, low].flatMap { word in unsafe withUnsafeBytes(of: word.bigEndian, Array.init) }
        #expect(words == Array(SHA1.hash(message).prefix(16)), "\(message.count) bytes")
      }
    }
  }

  @Test(arguments: SHA1Lanes.widths) func aLaneRefusesWhatItHasNoRoomFor(bits: Int) {
    let lanes = SHA1Lanes(bits: bits)
    let message = [UInt8](repeating: 1, count: SHA1Lanes.longestMessage + 1)
    #expect(unsafe !message.withUnsafeBytes { unsafe lanes.add($0, .init(start: nil, count: 0)) })
    #expect(
      unsafe message.withUnsafeBytes { unsafe lanes.add(.init(rebasing: $0.dropFirst()), .init(start: nil, count: 0)) })
  }
}
