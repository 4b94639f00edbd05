import BatchFoundation
import EngageRules
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

/// What names and values of foreign records mean.
@Suite struct MapProposalTests {
  @Test(
    arguments: [
      (["launch", "background"], ["launch": "launch", "background": "background"]),
      (["Application Opened", "Viewed", "open"], ["Application Opened": "launch"]),
      (["session_start", "buy"], ["session_start": "foreground"]),
      (["App Opened", "close"], ["App Opened": "launch", "close": "background"]),
      (["open", "close"], [:]), (["launch", "buy"], [:]), (["start", "pause", "resume"], [:]),
    ] as [([String], [String: String])])
  func namesOfLifecycle(names: [String], types: [String: String]) {
    let found = MapProposal.lifecycle(names)
    #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.type) }) == types)
  }

  /// One unknown value made receipts of all opens.
  @Test(
    arguments: [
      (["opened", "REPLY", "Push Opened"], ["opened": "opened", "Push Opened": "opened"], ["REPLY"]),
      (
        ["delivered", "com.apple.UNNotificationDefaultActionIdentifier"],
        ["delivered": "received", "com.apple.UNNotificationDefaultActionIdentifier": "opened"], []
      ),
      (["com.apple.UNNotificationDismissActionIdentifier", "tap"], ["tap": "opened"], []),
      (["sent", "failed"], nil, []), (["opened", "Viewed"], nil, []), (["Viewed"], nil, []),
    ] as [([String], [String: String]?, [String])])
  func actionsOfPushes(texts: [String], known: [String: String]?, unknown: [String]) {
    let found = ColumnLook.actions(texts)
    #expect(found?.known.compactMapValues(\.self) == known)
    #expect(found?.unknown ?? [] == unknown)
  }

  @Test func objectsInTexts() {
    #expect(["{}", "[]", #"{"id":1"#, "{'id': 1}", #"["a"]"#, "[1,2]"].allSatisfy(ColumnLook.isStructure))
    #expect(!["{F81D4FAE-7DEC-11D0}", "[abc]", "d-1:2", ""].contains(where: ColumnLook.isStructure))
  }

  @Test func valuesOfColumns() {
    #expect(["iPhone 15", "iphone15,2", "SM-G991B", "Mobile", "Galaxy S24"].allSatisfy(ColumnLook.isDeviceClass))
    #expect(!["iPhone-A", "phone-0001", "pixel_12ab", "motor"].contains(where: ColumnLook.isDeviceClass))
    #expect(["3.55E+14", "3,5e+9"].allSatisfy(ColumnLook.isRounded) && !ColumnLook.isRounded("35E1"))
    #expect(["+01:00", "-0530", "Z"].allSatisfy(ColumnLook.isOffset) && !ColumnLook.isOffset("60"))
    #expect(["app://a", "/cart", "shop/a?b=1"].allSatisfy(ColumnLook.isLink))
    #expect(!["Cart", "{\"a\":\"/\"}", "01/15/2026", "a / b"].contains(where: ColumnLook.isLink))
  }

  private func proposal(
    _ text: String, _ hints: MapProposal.Hints = MapProposal.Hints()
  ) throws -> (form: ExportForm, MapProposal) {
    let folder = try TemporaryFolder(["a": text])
    let file = try InputFiles.find([.events: [folder.path + "/a"]], in: "/").files[0]
    let form = try ExportForm(of: file)
    let records = try ExportRecords(of: file, form, RecordVocabulary.engage)
    return (form, try MapProposal(of: records, types: ["launch"], hints: hints))
  }

  private static let names = ["device_id", "event_time", "event_name", "note"]
  private static func row(_ number: Int, _ note: String? = "plain") -> [String] {
    ["d\(number % 3)", "2026-01-15 08:0\(number):00", "Viewed"] + [note].compactMap(\.self)
  }

  /// One odd row made a table nothing at all.
  @Test(
    arguments: [
      (",", [names, row(0, #""say \"hi\", bob""#), row(1, #""12\" disc""#), row(2)]),
      ("\t", [names, row(0), row(1, #""open quote"#), row(2, #""q" x"#)]),
      (",", [names, row(0, nil), row(1, nil), row(2)]),
      (",", [names] + (0..<9).map { row($0, $0 == 4 ? #""12" disc""# : "plain") } + [row(9)]),
    ])
  func aTableWithAnOddRowIsOne(separator: String, rows: [[String]]) throws {
    let text = rows.map { $0.joined(separator: separator) + "\n" }.joined()
    let (form, proposal) = try proposal(text)
    #expect(form.isTable, "\(text)")
    #expect(proposal.missing == [], "\(text)")
    #expect(proposal.path(of: "name") == "event_name")
  }

  @Test func aTextWithCommasIsNoTable() throws {
    for text in ["Dear all, we are, as ever,\nglad, you, know\n", "a,b\n1\n2\n3,4\n", "x\ny,z\n"] {
      #expect(try proposal(text).form.isTable == false, "\(text)")
    }
  }

  /// `type` is the kind of a call, and all events were called so.
  @Test(arguments: [("track", "name"), ("page", "name"), ("Viewed", "type")])
  func aNameComesBeforeTheTypeOfACall(type: String, path: String) throws {
    let record = #"{"device_id":"d-1","created_at":"2026-01-15T10:00:00Z","type":"\#(type)","name":"Sofa"}"#
    #expect(try proposal(record + "\n").1.path(of: "name") == path)
  }

  /// One byte made Windows-1252 of a file in UTF-8.
  @Test func anEncodingIsThatOfMostLetters() throws {
    func form(_ letters: [[UInt8]]) throws -> ExportForm {
      let rows = letters.map { Array("d,2026-01-15T08:00:00Z,".utf8) + $0 + [0x0A] }
      let folder = try TemporaryFolder([:])
      try Data(Array("device,time,event\n".utf8) + rows.joined()).write(to: URL(filePath: folder.path + "/a"))
      return try ExportForm(of: InputFiles.find([.events: [folder.path + "/a"]], in: "/").files[0])
    }
    let (valid, invalid): ([UInt8], [UInt8]) = (Array("ö".utf8), [0xF6])
    #expect(try form([valid, valid, invalid]).words == [#""form": "csv""#])
    let guess = try form([valid, invalid])
    #expect(guess.words == [#""form": "csv""#, #""encoding": "windows-1252""#] && guess.doubt == nil)
    #expect(guess.guesses == ["encoding guessed: windows-1252"])
    #expect(try form([[0x9D]]).doubt?.hasPrefix("byte 0x9D is not a character in windows-1252") ?? false)
  }

  @Test(
    arguments: [
      (#"C:\temp"#, nil, true), (#"back\slash\t"#, nil, false), (#"a\tb\\c"#, #"\"#, false), ("\\N", #"\"#, false),
      (#"CORP\Nina\tom"#, nil, false), (#"\d+\\"#, nil, false), ("plain", nil, false), (#"it\'s"#, nil, false),
    ] as [(String, String?, Bool)])
  func backslashesOfTables(value: String, escape: String?, isOpen: Bool) throws {
    let form = try proposal("device\ttime\tevent\tnote\nd\t2026-01-15T08:00:00Z\tv\t\(value)\n").form
    #expect(form.words == [#""form": "tsv""#] + (escape.map { ["\"escape\": \(JSONString.quoted($0))"] } ?? []))
    #expect((form.doubt != nil) == isOpen)
  }

  @Test func roundedTimes() {
    #expect(ColumnLook.times(["1.76846E+12", "1.76847E+12"]) == nil)
    #expect(
      ColumnLook.foreignClock(["1.76846E+12", "1,8E+12"]) == "times rounded by a spreadsheet; export them as text")
    #expect(ColumnLook.times(["1.768464000000E+12", "1.768464060000E+12"])?.part == .whole)
    #expect(ColumnLook.times(["1.768464E12"])?.part == .whole)
  }

  @Test func whatIsAroundIDs() {
    let ids = [" d", "d\u{A0}", "\u{FEFF}d", "\u{200B}d", "='d'", "'d", "d\""]
    #expect(ids.allSatisfy { ColumnLook.isWrapped($0, isID: true) })
    #expect(ids.filter { ColumnLook.isWrapped($0, isID: false) } == Array(ids.prefix(4)))
    #expect(!["d", "YWI==", "a'b"].contains { ColumnLook.isWrapped($0, isID: true) })
  }

  @Test func aPersonOfMostDevices() {
    let devices: [String: Set] = ["-1": ["a", "b", "c"], "u": ["a", "d"]]
    #expect(ExportColumns.shared(devices, among: 6) == "'-1' on 3 of 6 devices")
    #expect(ExportColumns.shared(devices, among: 7) == nil)
    #expect(ExportColumns.shared(["u": ["a", "b"]], among: 2) == nil)
  }

  private func lines(_ members: [String]) -> String {
    members.enumerated().map { number, members in
      #"{"device_id":"d\#(number % 2)","event":"Viewed","time":"2026-01-15T08:0\#(number / 2 * 2):00Z",\#(members)}"#
    }.joined(separator: "\n")
  }

  /// Rows that were loaded twice counted twice.
  @Test(arguments: [
    (
      ["\"event_id\":\"r0\",\"synced_at\":1", "\"event_id\":\"r1\"", "\"event_id\":\"r0\",\"synced_at\":2"], "event_id"
    ),
    (["\"uuid\":\"r0\",\"page\":1", "\"uuid\":\"r1\"", "\"uuid\":\"r0\",\"page\":1"], "uuid"),
    (["\"id\":0,\"insert_id\":\"a\"", "\"id\":1,\"insert_id\":\"b\"", "\"id\":0,\"insert_id\":\"a\""], "insert_id"),
    // Rows of one event, ids of something else, and ids of which none occurs twice.
    (["\"event_id\":\"r0\",\"item\":1", "\"event_id\":\"r1\"", "\"event_id\":\"r0\",\"item\":2"], nil),
    (["\"message_id\":\"m\"", "\"message_id\":\"m\"", "\"message_id\":\"n\""], nil),
    (["\"event_id\":\"r0\"", "\"event_id\":\"r1\"", "\"event_id\":\"r2\""], nil),
    (["\"event_id\":\"r0\"", "\"event_id\":\"r0\"", "\"event_id\":\"r0\""], nil),
    // An export of one record ended the program.
    (["\"event_id\":\"r0\""], nil),
  ])
  func idsOfRecords(members: [String], path: String?) throws {
    let text = members.enumerated().map { number, members in
      let minute = number % 2
      return #"{"device_id":"d\#(minute)","event":"Viewed","time":"2026-01-15T08:0\#(minute):00Z",\#(members)}"#
    }.joined(separator: "\n")
    let (form, proposal) = try proposal(text)
    #expect(proposal.path(of: "recordId") == path)
    let document = proposal.document(form, eventType: "namedEvent")
    #expect(document.contains(#""recordId": "\#(path ?? "")""#) == (path != nil))
  }

  /// The person went out as an attribute, and nothing was said.
  @Test(
    arguments: [
      (["ann", "bob", "ann", "bob"], 4), (["d0", "d1", "d0", "d1"], 0), (["d0", "bob", "ann", "bob"], 3),
    ])
  func aDistinctIDMayBeAPerson(ids: [String], others: Int) throws {
    let (_, proposal) = try proposal(lines(ids.map { #""distinct_id":"\#($0)""# }))
    #expect(proposal.path(of: "mobileUserId") == nil)
    let words =
      "nobody is identified, but 'distinct_id' is not the device in \(others) of 4 records: "
      + "if it identifies a person, map it as mobileUserId, and export an empty value for nobody"
    #expect(proposal.notes == (others == 0 ? [] : [words]))
  }

  @Test func aDistinctIDIsNotNamedNextToAPerson() throws {
    let (_, inner) = try proposal(lines(Array(repeating: #""distinct_id":"u""#, count: 3)))
    let (_, outer) = try proposal(lines(["ann", "bob", "eve"].map { #""user_id":"\#($0)""# }))
    #expect(inner.notes.count == 1)
    let completed = inner.completed(by: outer)
    #expect(completed.path(of: "mobileUserId") == "^.user_id")
    #expect(completed.notes == [])
  }

  /// The option that the message names had no effect where all records have one name.
  @Test(arguments: [(nil, InputKind.notifications), ("label", .events)])
  func aNamedColumnMakesEventsOfActions(name: String?, kind: InputKind) throws {
    var hints = MapProposal.Hints()
    hints.name = name
    let members = Array(repeating: #""action":"click","campaign":"spring","label":"Bought""#, count: 4)
    let rows = lines(members).replacing(#""event":"Viewed","#, with: "")
    #expect(try proposal(rows, hints).1.kind == kind)
  }

  @Test func namesWithQuotes() throws {
    for name in ["'device'", "it's", "'", "a.'b"] {
      let path = try MapPath(ExportColumns.written(name))
      #expect(path.steps == [.member(Array(name.utf8))], "\(path.text)")
    }
    #expect(throws: MapPath.Refusal.self) { try MapPath("'a''") }
  }
}
