import BatchFoundation
import BatchHash
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
    #expect(NameUUID(of: "www.example.com", in: .dns).text == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
  }
}
