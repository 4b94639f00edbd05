import BatchFoundation
import Testing

@Suite struct ServiceWordsTests {
  @Test(arguments: [
    ("no such tenant", "no such tenant"),
    ("status 400: too long", "status 400: too long"),
    ("recipient 900000000101 of list 50001 is gone", "recipient … of list … is gone"),
    ("bob@example.org is unknown", "….org is unknown"),
    ("c-123 or Müller", "… or …"),
    ("the value Berlin is wrong", "the value … is wrong"),
    ("the value BERLIN is wrong", "the value … is wrong"),
    ("a\nb\u{1B}[31mc", "a b […"),
    ("invalid_grant for Invalid_Grant", "invalid_grant for …"),
    ("", ""),
  ])
  func hidesWhatWasSent(words: String, shown: String) {
    let sent = Array(#"{"name":"City","value":"Berlin"}"#.utf8)
    #expect(ServiceWords.withoutValues(words, of: sent) == shown)
  }

  @Test(arguments: [
    #"<A><B>Berlin</B></A>"#, #"<A><B><![CDATA[in Berlin > Mitte]]></B></A>"#, #"{"value":"x\"Berlin"}"#,
    #"{"a":"Berlin"#, "Berlin",
  ])
  func knowsTheValuesOfEveryForm(sent: String) {
    #expect(ServiceWords.withoutValues("value A of B: Berlin", of: Array(sent.utf8)) == "value A of B: …")
  }

  @Test func isShort() {
    #expect(ServiceWords.withoutValues(String(repeating: "so ", count: 1000), of: []).count <= 205)
  }
}
