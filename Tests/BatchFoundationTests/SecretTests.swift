import BatchFoundation
import Testing

@Suite struct SecretTests {
  @Test func neverPrintsItself() {
    let secret = Secret("canary")
    var dumped = ""
    dump([secret], to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), "\([secret])", "\(Optional(secret) as Any)", dumped] {
      #expect(!text.contains("canary"))
    }
    #expect(secret.description == "<redacted>")
    #expect(secret.reveal() == "canary")
  }

  @Test func comparesItsValue() {
    #expect(Secret("a") == Secret("a"))
    #expect(Secret("a") != Secret("b"))
    #expect(Secret("").isEmpty)
  }
}
