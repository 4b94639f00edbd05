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

  /// They were hidden wherever a value had the same word.
  @Test(arguments: [
    ("Invalid Date Value in column: Merged Date", "Invalid Date Value in column: Merged Date"),
    ("There is no column Merged Date for Grete", "There is no column Merged Date for …"),
    ("Old-Id of recipient 900000000101 is invalid", "Old-Id of recipient … is invalid"),
  ])
  func showsNamesOfColumnsAndWordsOfFaults(words: String, shown: String) {
    let sent =
      "<ROW><COLUMN name=\"Old-Id\"><![CDATA[Grete in Date]]></COLUMN></ROW><COLUMN><NAME>Merged Date</NAME><VALUE>is</VALUE></COLUMN>"
    #expect(ServiceWords.withoutValues(words, of: Array(sent.utf8)) == shown)
  }

  /// A name of which a value has a word, or a number of few digits, showed it.
  @Test(arguments: [
    ("status 400: 'Event 7' of App 1.0", "status 400: '…' of … …"), ("Event Name Event 7", "Event Name …"),
    ("the Event is unknown", "the … is unknown"), ("App Version 1.0 in 1.0.2", "App Version … in ….2"),
    ("row 7 has not found it", "row 7 has not found it"), ("Event 77", "… 77"),
  ])
  func hidesAValueThatSharesWordsWithANameOfAColumn(words: String, shown: String) {
    let sent =
      #"[{"name":"Event Name","value":"event 7"},{"name":"App Name","value":"App"},{"name":"App Version","value":"1.0"},{"name":"s","value":"not found"}]"#
    #expect(ServiceWords.withoutValues(words, of: Array(sent.utf8)) == shown)
  }

  /// Words of a service's own, but not by chance.
  @Test func hidesALongValueOfWordsOfFaults() {
    let sent = Array("<VALUE>Session has expired or is invalid</VALUE>".utf8)
    let words = #"Invalid value "Session has expired or is invalid" in column"#
    #expect(ServiceWords.withoutValues(words, of: sent) == #"Invalid value "…" in column"#)
  }

  @Test(arguments: [
    #"<A><B>Berlin</B></A>"#, #"<A><B><![CDATA[in Berlin > Mitte]]></B></A>"#, #"{"value":"x\"Berlin"}"#,
    #"{"a":"Berlin"#, "Berlin",
  ])
  func knowsTheValuesOfEveryForm(sent: String) {
    #expect(ServiceWords.withoutValues("value A of B: Berlin", of: Array(sent.utf8)) == "value A of B: …")
  }

  static let secret = #"s3crët"&/+key"#

  /// What an echo of the secret may look like, made with other tools.
  @Test(arguments: [
    ServiceWordsTests.secret, "s3cr%C3%ABt%22%26%2F%2bkey", "s3cr%c3%abt%22%26/%2Bkey", #"s3crët\"&\/+key"#,
    #"s3cr\u00EBt\u0022\u0026/+key"#, "s3cr&#235;t&quot;&amp;/+key", "s3cr&#xEB;t&#34;&#x26;/+key",
    "czNjcsOrdCImLytrZXk=", "czNjcsOrdCImLytrZXk",
  ])
  func hidesASecretHoweverItIsWritten(echo: String) {
    _ = Secret(Self.secret)
    #expect(ServiceWords("no '\(echo)' here").text == "no '<redacted>' here")
    #expect(ServiceWords(Array("no '\(echo)' here".utf8)).text == "no '<redacted>' here")
  }

  /// `id:` and two bytes more before it, and something after it.
  @Test(arguments: [
    ("aWQ6cm9ib3QtODgxNzoxMjM=", 4), ("aWRpZDpyb2JvdC04ODE3OjEyMw==", 6), ("aWRpOnJvYm90LTg4MTc6MTIz", 5),
  ])
  func hidesASecretInTheMiddleOfBase64(echo: String, before: Int) {
    _ = Secret("robot-8817")
    let shown = ServiceWords("Basic \(echo)").text
    #expect(shown.contains("<redacted>"))
    #expect(shown.utf8.count - "Basic <redacted>".utf8.count <= before + 10, "\(shown)")
    #expect(!shown.contains("m9ib3QtODgxN") && !shown.contains("yb2JvdC04ODE3") && !shown.contains("Jvb290LTg4MTc"))
  }

  @Test(arguments: [
    ("bob@example.org is unknown", "<redacted> is unknown"), ("<x@y>", "<<redacted>>"),
    ("mail=a.b+c%40d.org", "<redacted>"), (#"{"m":"x\u0040y.de"}"#, #"{"m":"<redacted>"}"#),
    ("to x&#64;y now", "to <redacted> now"), (#""john doe"@example.org"#, "<redacted>"),
    ("müller@straße.de", "<redacted>"), ("x@[127.0.0.1]", "<redacted>"), ("a@b@c", "<redacted>"),
    ("@ home, at@ or @x", "@ home, at@ or @x"), ("100% + 5", "100% + 5"),
  ])
  func hidesAddresses(words: String, shown: String) { #expect(ServiceWords(words).text == shown) }

  /// Made with other tools: of `ada@example.test` alone, of `mail=ada@example.test&x=1` and of `{"mail":"ada@example.test"}`.
  @Test(arguments: [
    "YWRhQGV4YW1wbGUudGVzdA==", "YWRhQGV4YW1wbGUudGVzdA", "YWRhQGV4YW1wbGUudGVzdA%3D%3D",
    "bWFpbD1hZGFAZXhhbXBsZS50ZXN0Jng9MQ==",
    "eyJtYWlsIjoiYWRhQGV4YW1wbGUudGVzdCJ9", "/users/YWRhQGV4YW1wbGUudGVzdA==",
  ])
  func hidesAddressesInBase64(echo: String) {
    #expect(ServiceWords("no '\(echo)' here").text == "no '<redacted>' here")
  }

  @Test(arguments: [
    "Custom Event Code not recognized", "SUBMISSION of RECIPIENT_ID 900000000101 was refused",
    "The value for column 'CRM Lead Source' is not valid: invalid_grant, ListDoesNotExist",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "YWRh",
  ])
  func leavesWordsThatAreNoBase64(words: String) { #expect(ServiceWords(words).text == words) }

  @Test func leavesNoPartOfASecretAtTheEnd() {
    _ = Secret("a-very-long-secret-of-robots")
    let body = Array((String(repeating: "x", count: 2040) + "a-very-long-secret-of-robots").utf8)
    let shown = ServiceWords(body).text
    #expect(shown.utf8.count == 2048 && shown.hasSuffix("x<redacte"), "\(shown.suffix(20))")
  }

  @Test func leavesShortSecrets() {
    _ = Secret("plain")
    #expect(ServiceWords("a plain word").text == "a plain word")
  }

  @Test func isShort() {
    #expect(ServiceWords.withoutValues(String(repeating: "so ", count: 1000), of: []).count <= 205)
  }
}
