import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

extension InitExportTests {
  @Test("Files of two shapes are told, and so is a column that is not there")
  func shapes() throws {
    let workspace = try Workspace([])
    try workspace.write("a.csv", "device,time,event,x\nd-1,2026-01-15T08:00:00Z,view,1\n")
    try workspace.write("b.csv", "device,when,event\nd-1,2026-01-15T08:00:00Z,view\n")
    let made = try workspace.run("init", "shop", "--from", "*.csv")
    #expect(made.code == 65)
    #expect(
      made.messages.hasSuffix(
        "*.csv: error: the files differ in format or content: a.csv (4 columns), b.csv (3 columns), most of whose records would be rejected; shop/map.json reads the first; list the others in a separate entry of 'inputs' (docs/exports.md)\n"
      ), "\(made.messages)")
    let mistyped = try workspace.run("init", "other", "--from", "a.csv", "--device", "devise")
    #expect(mistyped.code == 65 && !workspace.exists("other"))
    #expect(mistyped.messages == "a.csv: error: there is no column 'devise'; did you mean 'device'?\n")
    #expect(try workspace.run("init", "--from", "a.csv", "made").code == 0)
    #expect(workspace.exists("made/job.json"))
  }

  @Test("A list of URLs without a map says what a link needs")
  func bareLinks() throws {
    let workspace = try Workspace([])
    try workspace.write("links.txt", "app://shop/a\n")
    try workspace.write("job.json", #"{"name":"j","inputs":{"deepLinks":["links.txt"]}}"#)
    let checked = try workspace.run("validate", "job.json")
    let words =
      "field 'deviceId' is missing; a link needs a device and a time: TIME<TAB>DEVICE<TAB>URL, "
      + "or a map such as samples/maps/links.json"
    #expect(checked.code == 65 && checked.output.contains(words), "\(checked.output)")
  }

  @Test("A check and the first run say whose records they are and which field is always empty")
  func guardOfTheFirstRun() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "calls.ndjson",
      Self.lines {
        #"{"type":"track","event":"View","anonymousId":"\#($1)","messageId":"m\#($0)","timestamp":"2026-01-1\#($0 + 4)T08:00:00Z","extra":1}"#
      })
    try workspace.write(
      "job.json", #"{"name":"j","store":"j.sqlite","inputs":{"events":[{"path":"calls.ndjson","map":"segment"}]}}"#)
    let checked = try workspace.run("validate", "job.json", "--from", "2026-01-14T00:00:00Z")
    #expect(checked.code == 0, "\(checked.messages)")
    #expect(
      checked.output.contains(
        "calls.ndjson: warning: empty-field: no record has a value for 'mobileUserId', which is read from 'userId'"),
      "\(checked.output)")
    let words = "events read with the map 'segment': 2 devices, 0 people, 4 records, 2026-01-14 to 2026-01-17\n"
    #expect(
      checked.messages.contains(words) && checked.messages.contains("not read: extra, type\n"), "\(checked.messages)")
    let first = try workspace.run("run", "job.json", "--sandbox")
    #expect(first.messages.contains(words), "\(first.messages)")
    let second = try workspace.run("run", "job.json", "--sandbox")
    #expect(!second.messages.contains("events read with the map"), "\(second.messages)")
  }

  @Test("A check names what lies around a record, and what may be the person")
  func membersAroundARecord() throws {
    let workspace = try Workspace([])
    try workspace.write(
      "calls.ndjson",
      #"{"user_id":"u","env":"live","call":{"type":"track","event":"View","anonymousId":"d","timestamp":"2026-01-15T08:00:00Z"}}"#
        + "\n")
    try workspace.write(
      "job.json", #"{"name":"j","inputs":{"events":[{"path":"calls.ndjson","map":"segment","record":"call"}]}}"#)
    let checked = try workspace.run("validate", "job.json")
    #expect(
      checked.messages.contains("  not read: env, type, user_id\n")
        && checked.messages.contains("  nobody is identified, but 'user_id' looks like a user id\n"),
      "\(checked.messages)")
  }

  @Test("Lines of two shapes in a folder are told, and all files count")
  func linesOfTwoShapes() throws {
    let workspace = try Workspace([])
    func own(_ device: Int) -> String {
      #"{"deviceId":"d\#(device)","timestamp":"2026-01-15T08:00:00Z","type":"launch"}"# + "\n"
    }
    try workspace.write("in/a.ndjson", own(1))
    try workspace.write("in/b.ndjson", own(2))
    let made = try workspace.run("init", "shop", "--from", "in")
    #expect(
      made.code == 0 && made.messages.contains("  2 devices, 0 people, 2 records, 2026-01-15\n"), "\(made.messages)")
    try workspace.write(
      "in/c.ndjson",
      #"{"type":"track","event":"A","anonymousId":"d3","messageId":"m","timestamp":"2026-01-15T08:00:00Z"}"# + "\n")
    let other = try workspace.run("init", "other", "--from", "in")
    #expect(
      other.code == 65
        && other.messages.hasSuffix(
          "in: error: the files differ in format or content: a.ndjson (lines of JSON), c.ndjson (lines of JSON), most of whose records would be rejected; the entry in job.json reads the first; list the others in a separate entry of 'inputs' (docs/exports.md)\n"
        ), "\(other.messages)")
  }

  @Test(
    "It says what a file is that no map reads",
    arguments: [
      ("sep=;\r\ndevice;time\r\nd;1\r\n", "the first line 'sep=;' is not part of the table; remove the line"),
      ("<plist version=\"1.0\"><array/></plist>\n", "the file has neither JSON objects nor a table"),
      (" device | time \n--------+------\n d      | 1    \n", "a table formatted for display; export it as CSV"),
      ("[\"d\",\"2026-01-15T08:00:00Z\",\"Cart\"]\n", "arrays of values without names; export objects"),
      ("device,time,event\n", "the file has a header, but no records"),
      (
        "device,time,event,id,id\nd,2026-01-15T08:00:00Z,Cart,1,2\n",
        "the file has a header, but no records that can be read: 1 rejected: other-form: "
      ),
      (
        #"{"-N1":{"device":"d","time":"2026-01-15T08:00:00Z","event":"Cart"},"-N2":{"device":"e","time":"2026-01-15T08:01:00Z","event":"Cart"}}"#,
        "records under keys of their own, such as '-N1', which maps cannot read; export lines or an array, for example with 'jq -c .[]'"
      ),
      (
        #"{"log":{"a":{"device":"d","time":"2026-01-15T08:00:00Z","event":"Cart","n":1},"b":{"device":"e","time":"2026-01-15T08:01:00Z","event":"Cart"}},"users":{}}"#,
        #"records under keys of their own, such as 'log.a', which maps cannot read; export lines or an array, for example with 'jq -c .["log"][]'"#
      ),
    ])
  func refused(text: String, words: String) throws {
    let workspace = try Workspace([])
    try workspace.write("in.txt", text)
    let made = try workspace.run("init", "shop", "--from", "in.txt")
    #expect(made.code == 65 && made.messages.hasPrefix("in.txt: error: \(words)"), "\(made.messages)")
    #expect(!workspace.exists("shop"))
  }

  @Test("What the first rows leave open of days and months, later ones settle")
  func laterRows() throws {
    let workspace = try Workspace([])
    for (last, words) in [("15/01", "dd/MM/yyyy HH:mm:ss"), ("01/15", "MM/dd/yyyy HH:mm:ss"), ("05/01", nil)] {
      let rows = (0..<260).map { "phone-\($0 % 7),\($0 < 250 ? "0\($0 % 9 + 1)/01" : last)/2026 08:00:00,Cart\n" }
      try workspace.write("in.csv", "device,time,event\n" + rows.joined())
      let made = try workspace.run("init", "f\(words?.prefix(2) ?? "")", "--from", "in.csv")
      #expect(made.code == (words == nil ? 65 : 0), "\(made.messages)")
      let told =
        words.map { "confidence high (\($0), according to later records)" } ?? "these records fit both"
      #expect(made.messages.contains(told), "\(made.messages)")
      guard let words else { continue }
      let map = try workspace.read("f\(words.prefix(2))/map.json")
      #expect(map.contains("\"time\": \"\(words)\"") && !map.contains("//"), "\(map)")
    }
  }
}
