import BatchFoundation
import BatchIngest
import EngageRules
import GameRules
import TestSupport
import Testing

/// The table of fields beside what is said of them elsewhere: what the readers take, `schema record`, and the pages.
@Suite("Format of records") struct RecordFormatTests {
  /// A type of one of the platforms.
  struct Kind: CustomTestStringConvertible, Sendable {
    var name: String
    var platform: String
    var uses: [FieldUse]
    var isExported: Bool

    var testDescription: String { "\(platform) \(name)" }

    static let all =
      RecordType.allCases.filter { $0 != .localNotificationOpened }.map {
        Kind(name: "\($0)", platform: "engage", uses: $0.fields, isExported: $0.isExported)
      }
      + GameRecordType.allCases.map {
        Kind(name: "\($0)", platform: "deltadna", uses: $0.fields, isExported: $0.isExported)
      }

    var vocabulary: RecordVocabulary {
      if platform == "engage" { RecordVocabulary.engage } else { RecordVocabulary.game }
    }

    /// A line that has every field.
    var whole: [String: String] {
      var members = isExported ? ["deviceId": #""d""#, "timestamp": "1", "type": #""\#(name)""#] : [:]
      for use in uses where use.field != .eventTimeStamp { members["\(use.field)"] = Self.sample(use.field) }
      return members
    }

    static func sample(_ field: RecordField) -> String {
      switch field.kind {
      case .text, .anything: #""t""#
      case .object, .columns: "{}"
      case .number, .time: "1"
      case .array: #"[{"name":"Device Id","value":"d"}]"#
      case .boolean: "true"
      case .code: "7"
      }
    }

    static func other(_ field: RecordField) -> String {
      switch field.kind {
      case .object, .columns: "5"
      case .boolean: #""yes""#
      case .number: #""1""#
      default: "{}"
      }
    }
  }

  private let schema: JSONSchema

  init() throws { schema = try JSONSchema(Checkout.text("configs/schemas/record.json")) }

  private func reads(_ line: [String: String], _ kind: Kind) -> Bool {
    let bytes = Array(Self.text(line).utf8)
    var reader = LineReader(kind.vocabulary, maxLineBytes: 1 << 20)
    var head = RecordHead()
    return bytes.withUnsafeBufferPointer {
      reader.read($0, kind: .events, position: RecordPosition(file: 0, line: 1), into: &head) == nil
    }
  }

  private static func text(_ line: [String: String]) -> String {
    "{" + line.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
  }

  private func expect(
    _ line: [String: String], _ kind: Kind, isTaken: Bool, at location: SourceLocation = #_sourceLocation
  ) throws {
    let text = Self.text(line)
    #expect(reads(line, kind) == isTaken, "the reader: \(text)", sourceLocation: location)
    let faults = try schema.faults(of: JSONNode.parse(Array(text.utf8)))
    #expect(faults.isEmpty == isTaken, "the schema: \(text): \(faults)", sourceLocation: location)
  }

  @Test("Reader and schema want what the table says", arguments: Kind.all)
  func wants(kind: Kind) throws {
    try expect(kind.whole, kind, isTaken: true)
    for use in kind.uses where use.field != .eventTimeStamp {
      var line = kind.whole
      line["\(use.field)"] = Kind.other(use.field)
      try expect(line, kind, isTaken: use.field.kind == .anything)
      if use.field.kind == .text {
        line["\(use.field)"] = #""""#
        try expect(line, kind, isTaken: !use.isFilled)
      }
      line["\(use.field)"] = nil
      // Of times either spelling has to be there, which the table cannot say.
      if use.field.kind != .time, kind.name != "consent" { try expect(line, kind, isTaken: !use.isRequired) }
    }
  }

  @Test("Consent has at least one of its fields")
  func consent() throws {
    for kind in Kind.all where kind.name == "consent" {
      for field in kind.uses.map({ "\($0.field)" }) {
        var line = kind.whole
        line[field] = nil
        try expect(line, kind, isTaken: true)
      }
      try expect(kind.whole.filter { $0.key != "use" && $0.key != "export" }, kind, isTaken: false)
    }
  }

  @Test("The rows of the reference name the fields of their types", arguments: Kind.all)
  func pages(kind: Kind) throws {
    let formats = try Checkout.text("docs/reference/formats.md")
    let page = try Checkout.text("docs/reference/deltadna.md")
    let games = page[try #require(page.firstRange(of: "\n## 2 Records\n")).upperBound...]
    let rows = (kind.platform == "engage" ? formats : games + formats).split(separator: "\n")
    let row = rows.first { row in
      let cells = row.split(separator: "|")
      return row.hasPrefix("|") && cells.count == 3 && cells[0].contains("`\(kind.name)`")
    }
    guard kind.isExported else { return }
    let cells = try #require(row, "no row has the type").split(separator: "|")
    for use in kind.uses {
      // A row of several types may say it of all at once.
      let isNamed = cells[1].contains("`\(use.field)`")
      #expect(isNamed, "\(use.field)")
      if isNamed, !use.isRequired, !cells[1].contains("(all optional)") {
        #expect(cells[1].contains("`\(use.field)`?"), "\(use.field) is optional")
      }
    }
  }

  @Test("The schema knows no field that the table lacks")
  func noOthers() throws {
    let event = try #require(schema.root["definitions"]?["event"]?["properties"]?.members)
    let known = Set(RecordField.allCases.map { "\($0)" })
    #expect(event.map(\.key).filter { !known.contains($0) } == [])
  }
}
