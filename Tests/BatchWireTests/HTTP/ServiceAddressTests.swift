import Testing

@testable import BatchWire

@Suite struct ServiceAddressTests {
  @Test(arguments: [
    ("api-campaign-us-1.goacoustic.com", "https://api-campaign-us-1.goacoustic.com/XMLAPI"),
    ("api-campaign-us-1.goacoustic.com/", "https://api-campaign-us-1.goacoustic.com/XMLAPI"),
    ("https://API1.silverpop.com", "https://api1.silverpop.com/XMLAPI"),
    ("HTTPS://api1.silverpop.com///", "https://api1.silverpop.com/XMLAPI"),
    ("api1.silverpop.com:8443/base/", "https://api1.silverpop.com:8443/base/XMLAPI"),
    ("http://127.0.0.1:9999", "http://127.0.0.1:9999/XMLAPI"),
    ("http://localhost:1/", "http://localhost:1/XMLAPI"),
    ("http://[::1]:80", "http://[::1]:80/XMLAPI"),
    ("https://192.0.2.7", "https://192.0.2.7/XMLAPI"),
  ])
  func joins(_ text: String, _ url: String) throws {
    #expect(try ServiceAddress(text).url("/XMLAPI") == url)
    #expect(try ServiceAddress(text).url("XMLAPI") == url)
  }

  @Test(
    arguments: [
      ("", .empty), ("ftp://host", .scheme("ftp")), ("https://", .host), ("https:///path", .host), ("ho st", .host),
      ("host..name", .host), ("-host", .host), ("höst", .host), ("[::1", .host), ("[::1]x", .host), ("[xyz]", .host),
      ("host:", .port), ("host:0", .port), ("host:65536", .port), ("host:8a", .port), ("host:+80", .port),
      ("user@host", .rest), ("https://user:pw@host", .rest), ("host/a?b", .rest), ("host?b", .rest),
      ("host/a#b", .rest), ("host/a b", .rest),
      ("host/\r\nX: y", .rest), ("http://example.test", .plainText), ("http://127.0.0.1.example.test", .plainText),
      ("http://127.1", .plainText), ("http://127.0.0.01", .plainText), ("http://10.0.0.1", .plainText),
      ("http://localhost.example.test", .plainText),
    ] as [(String, ServiceAddress.Fault)])
  func refuses(_ text: String, _ fault: ServiceAddress.Fault) {
    #expect(throws: fault) { try ServiceAddress(text) }
  }

  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_199), ("Thu, 30 Feb 2024 00:00:00 GMT", nil),
      ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun Nov  6 08:49:37 1994", nil),
      ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
      ("120", nil), ("", nil),
    ] as [(String, Int64?)])
  func readsHTTPDates(_ text: String, _ seconds: Int64?) {
    #expect(HTTPDate.parse(text) == seconds)
  }
}
