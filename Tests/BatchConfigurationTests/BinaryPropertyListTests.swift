import BatchFoundation
import FoundationEssentials
import Testing

@testable import BatchConfiguration

/// Binary property lists say what XML ones say (reference decisions 52).
@Suite struct BinaryPropertyListTests {
  /// An object as the file has it: its marker with what follows, and the numbers of the objects that it refers to.
  private struct Item {
    var bytes: [UInt8]
    var references: [Int] = []
  }

  /// A list of objects, of which the first is the top.
  private static func list(_ items: [Item], widthOfReference: Int = 1) -> [UInt8] {
    func number(_ value: Int, _ width: Int) -> [UInt8] {
      (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    var bytes = Array("bplist00".utf8)
    var places: [Int] = []
    for item in items {
      places.append(bytes.count)
      bytes += item.bytes + item.references.flatMap { number($0, widthOfReference) }
    }
    let table = bytes.count
    bytes += places.flatMap { number($0, 4) }
    return bytes + [0, 0, 0, 0, 0, 0, 4, UInt8(widthOfReference)] + number(items.count, 8) + number(0, 8)
      + number(table, 8)
  }

  private static func text(_ text: String) -> Item { Item(bytes: [0x50 | UInt8(text.utf8.count)] + Array(text.utf8)) }

  private static func outcome(_ bytes: [UInt8]) -> String {
    do {
      return try DocumentReader.read(bytes).canonicalText
    } catch {
      return error.problem
    }
  }

  private static func real(_ value: Double) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: value.bitPattern >> ($0 * 8)) }
  }

  /// Written by plistlib of Python 3.11.
  private static let written =
    "YnBsaXN0MDDSAQIDBFRuYW1lV0dlbmVyYWxXbmlnaHRsedcFBgcICQoLDA0XGBkaA18QEXViZkV2ZW50Q2FjaGVTaXplVWxpc3RzVHRleHRTZGF5VGxvbmdVZW1wdHlVYWdhaW4QA6kODxAREhMUFRYQARP//////////hEBLBIAARFwEwAAAQAAAAAACQgjP+AAAAAAAAAjQBQAAAAAAABlAFoAbwDrACAnEzNBx4xrAAAAAF8QFHh4eHh4eHh4eHh4eHh4eHh4eHh4UAgNEhoiMUVLUFRZX2VncXN8f4SNjo+Yoay1zAAAAAAAAAEBAAAAAAAAABsAAAAAAAAAAAAAAAAAAADN"

  @Test func readsWhatPythonWrites() throws {
    let bytes = try #require(Data(base64Encoded: Self.written))
    #expect(
      Self.outcome(Array(bytes))
        == #"{"General":{"again":"nightly","day":"2026-01-15T08:00:00Z","empty":"","lists":[1,-2,300,70000,1099511627776,true,false,0.5,5.0],"long":"xxxxxxxxxxxxxxxxxxxx","text":"Zoë ✓","ubfEventCacheSize":3},"name":"nightly"}"#
    )
  }

  @Test func readsEachKindAsXMLHasIt() {
    let objects: [(item: Item, text: String)] = [
      (Item(bytes: [0x08]), "false"), (Item(bytes: [0x09]), "true"), (Item(bytes: [0x10, 0xFF]), "255"),
      (Item(bytes: [0x13] + Array(repeating: 0xFF, count: 8)), "-1"),
      (Item(bytes: [0x22, 0x3F, 0x00, 0x00, 0x00]), "0.5"), (Item(bytes: [0x23] + Self.real(12)), "12.0"),
      (Item(bytes: [0x33] + Self.real(0)), #""2001-01-01T00:00:00Z""#),
      (Item(bytes: [0x33] + Self.real(790_156_800.25)), #""2026-01-15T08:00:00.250Z""#),
      (Item(bytes: [0x33] + Self.real(-978_307_201)), #""1969-12-31T23:59:59Z""#),
      (Item(bytes: [0x61, 0x00, 0xE9]), #""é""#), (Item(bytes: [0x62, 0xD8, 0x3D, 0xDE, 0x00]), #""😀""#),
      (Item(bytes: [0x5F, 0x10, 0x03] + Array("abc".utf8)), #""abc""#), (Item(bytes: [0xA0]), "[]"),
    ]
    for (item, text) in objects {
      #expect(Self.outcome(Self.list([Item(bytes: [0xA1], references: [1]), item])) == "[\(text)]")
    }
    #expect(
      Self.outcome(
        Self.list([Item(bytes: [0xD1], references: [1, 2]), Self.text("k"), Self.text("v")], widthOfReference: 3))
        == #"{"k":"v"}"#)
  }

  /// Binary data is refused with its key in both forms.
  @Test(arguments: [
    ("<dict><key>Token</key><data>BwA=</data></dict>", "'Token'"), ("<array><data/></array>", "the list[0]"),
  ])
  func refusesDataInXML(_ xml: String, _ name: String) {
    #expect(Self.outcome(Array("<plist>\(xml)</plist>".utf8)) == "\(name) is data, which is not supported")
  }

  @Test func refusesWhatXMLCannotSay() {
    let key = Self.text("Token")
    for (item, words) in [
      (Item(bytes: [0x41, 0x07]), "'Token' is data, which is not supported"),
      (Item(bytes: [0x80, 0x01]), "'Token' is a UID, which is not supported"),
      (Item(bytes: [0x23] + Self.real(.nan)), "'Token' is not a finite number"),
      (Item(bytes: [0x33] + Self.real(1e12)), "'Token' is a date outside the years 1 to 9999"),
      (Item(bytes: [0x51, 0xC3]), "'Token' is a string with characters that XML property lists cannot contain"),
      (Item(bytes: [0x51, 0x00]), "'Token' is a string with characters that XML property lists cannot contain"),
      (Item(bytes: [0x61, 0xD8, 0x00]), "'Token' is a string with characters that XML property lists cannot contain"),
      (
        Item(bytes: [0x00]),
        "not a readable binary property list: 'Token' has a type that XML property lists do not support"
      ),
      (
        Item(bytes: [0x14] + Array(repeating: 0, count: 16)),
        "not a readable binary property list: 'Token' has a type that XML property lists do not support"
      ),
      (
        Item(bytes: [0xC0]),
        "not a readable binary property list: 'Token' has a type that XML property lists do not support"
      ),
      (Item(bytes: [0x5F, 0x20]), "not a readable binary property list: a length is not an integer"),
      (
        Item(bytes: [0x5F, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7)),
        "not a readable binary property list: a value extends past the end of the object data"
      ),
      (
        Item(bytes: [0xA1], references: [9]),
        "not a readable binary property list: it refers to a missing object"
      ),
    ] {
      #expect(Self.outcome(Self.list([Item(bytes: [0xD1], references: [1, 2]), key, item])) == words)
    }
    #expect(
      Self.outcome(Self.list([Item(bytes: [0xD1], references: [1, 1]), Item(bytes: [0x10, 0x01])]))
        == "not a readable binary property list: a key of the list is not a string")
  }

  @Test func boundsDepthAndSize() {
    // A list of lists: 62 levels below the one of XML's own element.
    func nested(_ levels: Int) -> [UInt8] {
      Self.list((1...levels).map { Item(bytes: [$0 == levels ? 0xA0 : 0xA1], references: $0 == levels ? [] : [$0]) })
    }
    #expect(Self.outcome(nested(62)) == String(repeating: "[", count: 62) + String(repeating: "]", count: 62))
    #expect(Self.outcome(nested(63)).hasSuffix("is nested more than 64 levels deep"))
    #expect(
      Self.outcome(Self.list([Item(bytes: [0xA1], references: [1]), Item(bytes: [0xA1], references: [0])]))
        == "not a readable binary property list: the list[0][0] contains itself")
    // Each refers to the next 14 times: 14^6 values in 60 bytes.
    let wide = (1...7).map {
      Item(bytes: [$0 == 7 ? 0xA0 : 0xAE], references: $0 == 7 ? [] : Array(repeating: $0, count: 14))
    }
    #expect(Self.outcome(Self.list(wide)) == "not a readable binary property list: it has more than 100000 values")
    let long = Item(bytes: [0x5F, 0x12, 0x00, 0x10, 0x00, 0x00] + Array(repeating: 0x78, count: 1 << 20))
    let many = Item(bytes: [0xAF, 0x10, 17], references: Array(repeating: 1, count: 17))
    #expect(
      Self.outcome(Self.list([many, long]))
        == "not a readable binary property list: its strings have more than 16777216 characters")
  }

  @Test func refusesAnyCutList() throws {
    let bytes = Array(try #require(Data(base64Encoded: Self.written)))
    for count in 8..<bytes.count { #expect(Self.outcome(Array(bytes[..<count])).hasPrefix("not a readable")) }
  }
}
