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
        "'time' may be the time, but '15.01.26 08:00' cannot be read as a time: export it with a four-digit year"
      ]
    },
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
