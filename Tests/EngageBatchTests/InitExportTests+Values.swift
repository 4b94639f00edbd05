import TestSupport
import Testing

/// Exports whose values would be read as others without a word.
extension InitExportTests {
  static let misread: [Export] = [
    Export(
      "one damaged line of many in UTF-8", "in.ndjson",
      damaged { #"{"device":"\#($1)","time":"\#($0)","event":"Gr\#($2)ße"}"# }
    ) {
      $0.written = [#""params": {"others": "$", "flatten": "."}"#]
      $0.told = ["  1 rejected: invalid-utf8: ", "a map is proposed", "\"name\":\"Größe\""]
      $0.times = goodTimes
    },
    Export(
      "one damaged row of many in UTF-8", "in.csv",
      Array("device,time,event\n".utf8) + damaged { "\($1),\($0),Gr\($2)ße" }
    ) {
      $0.told = ["in.csv: a CSV table; no preset", "  1 rejected: invalid-utf8: ", "\"name\":\"Größe\""]
      $0.times = goodTimes
    },
    Export(
      "one damaged call of many of a vendor", "in.ndjson",
      damaged {
        #"{"type":"track","event":"Gr\#($2)ße","anonymousId":"\#($1)","messageId":"\#($0)","timestamp":"\#($0)"}"#
      }
    ) {
      $0.told = ["the preset 'segment' reads 29 of 30", "\"name\":\"Größe\""]
      $0.times = goodTimes
    },
    Export(
      "a code page that is another", "in.csv",
      Array("device,time,event\n".utf8)
        + lines { "\($1),2026-01-15T08:0\($0):00Z,M\u{81}nchen" }.unicodeScalars.map { UInt8($0.value) }
    ) {
      $0.code = 65
      $0.told = ["  encoding guessed: windows-1252\n", "byte 0x81 is not a character in windows-1252"]
    },
    Export(
      "a tab-separated table and the backslashes of accounts", "in.tsv",
      table("device\ttime\tevent\tuser_id") {
        "\($1)\t2026-01-15T08:0\($0):00Z\t\(names[$0])\tCORP\\\(["nina", "sam", "nina", "sam"][$0])"
      }
    ) { $0.people = [#"CORP\nina"#, #"CORP\sam"#] },
    Export(
      "a tab-separated table whose backslashes may be either", "in.tsv",
      table("device\ttime\tevent\tuser_id") {
        "\($1)\t2026-01-15T08:0\($0):00Z\t\(names[$0])\tCORP\\\(["nina", "tom"][$0 % 2])"
      }
    ) {
      $0.code = 65
      $0.told = [#"such as '\t' or '\n', may be text or escapes: write "escape": "" or "escape": "\\" in the map"#]
    },
    Export(
      "a tab-separated table that escapes", "in.tsv",
      table("device\ttime\tevent\tnote") {
        "\($1)\t2026-01-15T08:0\($0):00Z\t\(names[$0])\t\([#"a\tb"#, #"c:\\d"#, "x", "\\N"][$0])"
      }
    ) {
      $0.written = [#""escape": "\\""#]
      $0.told = ["  escape guessed: \\", #""note":"a\tb""#]
    },
    Export(
      "times that a spreadsheet rounded", "in.csv", table("device,time,event") { "\($1),1.7684\($0)E+12,\(names[$0])" }
    ) {
      $0.code = 65
      $0.told = ["'time' looks like times rounded by a spreadsheet", "nothing looks like timestamp"]
    },
    Export("years of two digits", "in.csv", table("device,time,event") { "\($1),15.01.26 08:0\($0),\(names[$0])" }) {
      $0.code = 65
      $0.told = [
        "'time' may be the time, but no known pattern fits all values, such as '15.01.26 08:00': export it with a four-digit year and an offset"
      ]
    },
    Export(
      "a time that one row lacks", "in.csv",
      table("device,time,event") { "\($1),\($0 == 2 ? "" : "15.01.2026 08:0\($0):00"),\(names[$0])" }
    ) {
      $0.code = 65
      $0.told = ["dd.MM.yyyy HH:mm:ss; the day comes first; in 3 of 4 records)", "1 of 4 records would be rejected"]
    },
    Export(
      "two clocks of the phone", "in.csv",
      table("device,event_time,device_time,event") {
        "\($1),2026-01-15 09:0\($0):00,2026-01-15 08:0\($0):00,\(names[$0])"
      }
    ) {
      $0.code = 65
      $0.told = ["guessed: timestamp (event_time)", "or 'device_time'"]
    },
    Export(
      "columns without a name at the end", "in.csv",
      table("device,time,event,,") { "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),x,\($0)" }
    ) { $0.told = ["a CSV table; no preset reads it", #""params":{"column4":"x","column5":"0"}"#] },
    Export(
      "people beside the records", "in.ndjson",
      lines {
        #"{"user_id":"u-\#($1.suffix(1))","app":{"os":"iOS"},"plan":"gold","data":{"device":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])"}}"#
      }
    ) {
      $0.written = [#""record": "data""#, #""mobileUserId": "^.user_id""#, #""device.osName": "^.app.os""#]
      $0.people = ["u-1", "u-2"]
    },
    Export(
      "people beside records in JSON in a column", "in.csv",
      table("user_id,loaded_at,body") {
        "u-\($1.suffix(1)),2026-01-16,\"{\"\"device\"\":\"\"\($1)\"\",\"\"time\"\":\"\"2026-01-15T08:0\($0):00Z\"\",\"\"event\"\":\"\"\(names[$0])\"\"}\""
      }
    ) {
      $0.written = [#""mobileUserId": "^.user_id""#]
      $0.people = ["u-1", "u-2"]
    },
    Export(
      "campaigns beside pushes", "in.ndjson",
      lines {
        #"{"campaign":"sale","data":{"device":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","push_status":"opened"}}"#
      }
    ) {
      $0.written = [#""payload.CurrentCampaign": "^.campaign""#]
      $0.event = "49"
    },
    Export(
      "devices beside lists of events", "in.ndjson",
      lines {
        #"{"user_id":"u-1","device_id":"\#($1)","events":[{"time":"2026-01-15T08:0\#($0):00Z","name":"\#(names[$0])"}]}"#
      }
    ) {
      $0.written = [#""each": "events""#, #""deviceId": "^.device_id""#, #""mobileUserId": "^.user_id""#]
      $0.people = ["u-1"]
    },
    Export(
      "people beside lists of events", "in.ndjson",
      lines {
        #"{"user_id":"u-1","events":[{"device_id":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","name":"\#(names[$0])"}]}"#
      }
    ) { $0.people = ["u-1"] },
    Export(
      "taps in an app that a campaign brought users to", "in.csv",
      table("device,time,event,utm_campaign") { "\($1),2026-01-15T08:0\($0):00Z,tap,sale" }
    ) {
      $0.code = 65
      $0.told = ["'event' may refer to pushes or to something else; if this is not a push log, specify --name"]
    },
    Export(
      "flat rows of a vendor", "in.ndjson",
      lines {
        #"{"type":"track","event":"\#(names[$0])","anonymous_id":"\#($1)","message_id":"m\#($0)","timestamp":"2026-01-15T08:0\#($0):00Z","price":9.5}"#
      }
    ) { $0.told = ["no preset reads it", #""price":9.5"#] },
    Export(
      "calls of a vendor whose properties are objects of Python", "in.ndjson",
      lines {
        #"{"type":"track","event":"\#(names[$0])","anonymousId":"\#($1)","messageId":"m\#($0)","timestamp":"2026-01-15T08:0\#($0):00Z","context":{},"properties":"{'n': \#($0)}"}"#
      }
    ) {
      $0.code = 65
      $0.told = ["'properties' has objects or lists that are not JSON, such as '{'n': 0}': export them as JSON"]
    },
    Export(
      "objects of Python in a column", "in.csv",
      table("device,time,event,note") { "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),{'n': \($0)}" }
    ) {
      $0.code = 65
      $0.told = ["'note' contains JSON in strings, such as '{'n': 0}', which is not parsed"]
    },
    Export(
      "own records with members of others", "in.ndjson",
      lines {
        #"{"deviceId":"\#($1)","timestamp":"2026-01-15T08:0\#($0):00Z","type":"namedEvent","name":"\#(names[$0])","userId":"u-1","plan":"gold"}"#
      }
    ) { $0.told = ["read without a map, as events\n  not read: plan, userId\n", "  2 devices, 0 people, 4 records"] },
    Export(
      "a person on all devices", "in.csv",
      table("device,user_id,time,event") { "\(["a", "b", "c", "a"][$0])\($1),-1,2026-01-15T08:0\($0):00Z,\(names[$0])" }
    ) {
      $0.code = 65
      $0.told = [
        "error: 'user_id' is '-1' on 4 of 4 devices, so these devices would be treated as one person's: export an empty value"
      ]
    },
    Export(
      "a person on all devices of a vendor's", "in.ndjson",
      lines { row, _ in
        #"{"type":"track","event":"\#(names[row])","anonymousId":"d\#(row)","userId":"guest-1","messageId":"m\#(row)","timestamp":"2026-01-15T08:0\#(row):00Z"}"#
      }
    ) {
      $0.code = 65
      $0.told = ["error: 'userId' is 'guest-1' on 4 of 4 devices"]
    },
    Export(
      "an account on all devices, and addresses", "in.csv",
      table("device,account_id,email,time,event") { row, _ in
        "phone-\(row),77,\(row)@shop.example,2026-01-15T08:0\(row):00Z,\(names[row])"
      }
    ) {
      $0.written = [#""mobileUserId": "email""#]
      $0.told = ["('account_id' is '77' on 4 of 4 devices)"]
      $0.devices = (0..<4).map { "phone-\($0)" }
      $0.people = (0..<4).map { "\($0)@shop.example" }
    },
    Export(
      "lines of the app's own with a vendor's names", "in.ndjson",
      lines {
        #"{"device_id":"\#($1)","user_id":"u-1","event_type":"\#(names[$0])","time":"2026-01-15T08:0\#($0):00Z","platform":"ios","amount":\#($0)}"#
      }
    ) {
      $0.written = [#""name": "event_type", "params": {"others": "$", "flatten": "."}"#]
      $0.told = [#""params":{"amount":0}"#]
      $0.people = ["u-1"]
    },
    Export(
      "people that are objects", "in.ndjson",
      lines {
        #"{"device":"\#($1)","user_id":{"string":"u-1"},"time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])"}"#
      }
    ) {
      $0.code = 65
      $0.told = ["'user_id' holds objects, not ids: map one of its members as mobileUserId"]
    },
    wrapped("formulas", "\"=\"\"00121\"\"\"", #"'="00121"'"#),
    wrapped("apostrophes", "'00123", "''00123'"),
    wrapped("marks", "\u{200B}d1", "'\u{200B}d1'"),
    Export(
      "names in single quotes", "in.csv",
      table("'device','time','event'") { "\($1),2026-01-15T08:0\($0):00Z,\(names[$0])" }
    ) { $0.written = [#""deviceId": "'''device'''""#] },
    Export(
      "a header that ends with a comma", "in.csv",
      table("device,time,event,") { "\($1),2026-01-15T08:0\($0):00Z,\(names[$0])," }
    ) { $0.told = ["a CSV table; no preset reads it"] },
    Export(
      "devices that are numbers with a fraction", "in.ndjson",
      lines { row, _ in #"{"device":1\#(row % 2).0,"time":"2026-01-15T08:0\#(row):00Z","event":"\#(names[row])"}"# }
    ) { $0.devices = ["10", "11"] },
    Export(
      "numbers that are missing like people", "in.csv",
      table("device,time,event,user_id,amount") {
        "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),\(["u-1", "NaN"][$0 % 2]),\(["NaN", "1.5"][$0 % 2])"
      }
    ) {
      $0.told = ["  null guessed: 'NaN'\n"]
      $0.people = ["u-1"]
    },
    Export(
      "decimal commas", "in.csv",
      table("device;time;event;amount") { "\($1);2026-01-15T08:0\($0):00Z;\(names[$0]);1\($0),50" }
    ) { $0.told = ["  decimal comma guessed: 'amount'\n"] },
    Export(
      "two spellings of a device", "in.ndjson",
      lines {
        #"{"\#($0 == 0 ? "device_id" : "deviceId")":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])"}"#
      }
    ) {
      $0.code = 65
      $0.told = [
        "deviceId: deviceId, confidence low ('device_id' is in 1 of 4 records, 'deviceId' is in 3 of 4 records)"
      ]
    },
    Export(
      "offsets in minutes", "in.csv",
      table("device,local_time,tz_offset_minutes,event") {
        "\($1),2026-01-15 08:0\($0):00,\([60, -300][$0 % 2]),\(names[$0])"
      }
    ) {
      $0.code = 65
      $0.told = ["the zone of each time is in 'tz_offset_minutes', which a map cannot read: export times in UTC"]
    },
    Export(
      "people who are 0", "in.csv",
      table("device,user_id,time,event") { "\($1),\($0 % 2),2026-01-15T08:0\($0):00Z,\(names[$0])" }
    ) {
      $0.code = 65
      $0.told = [
        "'user_id' is 0 in 2 records, and all such records would be assigned to the same person: export an empty value instead"
      ]
    },
    Export(
      "arrays in lines", "in.ndjson",
      lines { #"[{"device":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])"}]"# }
    ) { $0.written = [#""form": "json""#] },
  ]

  /// Devices with something around them.
  private static func wrapped(_ what: String, _ device: String, _ shown: String) -> Export {
    Export(
      "devices in \(what)", "in.csv",
      table("device,time,event") { row, _ in "\(device),2026-01-15T08:0\(row):00Z,\(names[row])" }
    ) {
      $0.code = 65
      $0.told = ["remove blanks, quotes and invisible characters around the values of 'device', such as \(shown)"]
    }
  }

  /// The times of all but the damaged record.
  private static let goodTimes = (0..<30).filter { $0 != 12 }.map { "2026-01-15T08:\(10 + $0):00.000Z" }

  /// Thirty lines in UTF-8, of which the thirteenth is in Latin-1.
  private static func damaged(_ line: (String, String, String) -> String) -> [UInt8] {
    (0..<30).flatMap { number in
      let text = line("2026-01-15T08:\(10 + number):00Z", "phone-000\(number % 2 + 1)", "ö") + "\n"
      return number == 12 ? text.unicodeScalars.map { UInt8($0.value) } : Array(text.utf8)
    }
  }

  @Test("Files whose columns are in another order, or more, are one shape if all is read")
  func columnsInAnotherOrder() throws {
    let workspace = try Workspace([])
    try workspace.write("a.csv", "device,time,event,user_id\nd-1,2026-01-15T08:00:00Z,view,u-1\n")
    try workspace.write("b.csv", "event,user_id,device,time,x\nview,u-2,d-2,2026-01-15T08:00:00Z,1\n")
    let made = try workspace.run("init", "shop", "--from", "*.csv")
    #expect(made.code == 0 && made.messages.contains("  2 devices, 2 people, 2 records"), "\(made.messages)")
    try workspace.write("c.csv", "device,time,event\nd-1,2026-01-15T08:00:00Z,view\n")
    let other = try workspace.run("init", "other", "--from", "*.csv")
    #expect(other.code == 65 && other.messages.contains("a.csv (4 columns), c.csv (3 columns);"), "\(other.messages)")
  }

  @Test("Of a document with many events three are shown")
  func threeSamples() throws {
    let workspace = try Workspace([])
    let events = (0..<60).map {
      #"{"device":"d-\#($0 % 3)","time":"2026-01-15T08:\#($0 < 10 ? "0" : "")\#($0):00Z","event":"view"}"#
    }
    try workspace.write("in.json", #"{"ok":true,"events":["# + events.joined(separator: ",") + "]}\n")
    let made = try workspace.run("init", "shop", "--from", "in.json")
    #expect(
      made.code == 0 && made.messages.split(separator: "\n").count { $0.contains(" becomes ") } == 3, "\(made.messages)"
    )
  }
}
