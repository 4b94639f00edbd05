import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// Files as people have them, and the job that 'init --from' writes of each.
@Suite("A first job of what people have") struct InitExportTests {
  struct Export: CustomTestStringConvertible, Sendable {
    var name: String
    /// Relative to the folder.
    var files: [(path: String, bytes: [UInt8])]
    var options: [String] = []
    /// In the map, or in the job where there is none.
    var written: [String] = []
    /// In what is printed.
    var told: [String] = []
    var code: Int32 = 0
    var devices = ["phone-0001", "phone-0002"]
    var times = ["08:00:00", "08:01:00", "08:02:00", "08:03:00"].map { "2026-01-15T\($0).000Z" }
    var people: [String] = []
    /// The code of the events that the records become.
    var event = "17"

    var testDescription: String { name }

    init(_ name: String, _ path: String, _ text: String, _ change: (inout Export) -> Void = { _ in }) {
      self.init(name, path, Array(text.utf8), change)
    }

    init(_ name: String, _ path: String, _ bytes: [UInt8], _ change: (inout Export) -> Void = { _ in }) {
      self.name = name
      files = [(path, bytes)]
      change(&self)
    }
  }

  /// Four records of two devices, a minute apart.
  static func rows(_ row: (Int, String) -> String) -> [String] {
    (0..<4).map { row($0, "phone-000\($0 % 2 + 1)") }
  }

  static func lines(_ row: (Int, String) -> String) -> String { rows(row).joined(separator: "\n") + "\n" }

  static func table(_ header: String, _ row: (Int, String) -> String) -> String { header + "\n" + lines(row) }

  static let names = ["Viewed item", "Opened cart", "Viewed item", "Opened cart"]

  static let exports: [Export] = [
    Export(
      "CSV with US dates", "in.csv",
      table("Device ID,Event Time,Event Name,Amount") { "\($1),01/15/2026 8:0\($0):00 AM,\(names[$0]),1\($0).50" }
    ) {
      $0.written = [#""timestamp": {"path": "Event Time", "time": "MM/dd/yyyy hh:mm:ss a", "zone": "UTC"}"#]
      $0.told = ["the month comes first", "times without a zone are read as UTC"]
    },
    Export(
      "CSV of a German spreadsheet", "in.csv",
      Array("Ger".utf8) + [0xE4] + Array("t;Zeitpunkt;Ereignis;Betrag\n".utf8)
        + rows { "\($1);15.01.2026 08:0\($0):00;Gr|\u{FC}e \($0 % 2);45,70\n" }.flatMap {
          $0.unicodeScalars.map { UInt8($0.value) }
        }
    ) {
      $0.written = [
        #""separator": ";""#, #""encoding": "windows-1252""#, #""deviceId": "Gerät""#,
        #""time": "dd.MM.yyyy HH:mm:ss", "zone": "UTC""#,
      ]
      $0.told = ["a semicolon-separated table in windows-1252"]
    },
    Export(
      "day and time of day in two columns", "in.csv",
      table("device id,event date,event time,event name,campaign") { "\($1),2026-01-15,08:0\($0):00,\(names[$0]),sale" }
    ) { $0.written = [#""timestamp": {"paths": ["event date", "event time"], "join": " ", "zone": "UTC"}"#] },
    Export(
      "US days and times of day in two columns", "in.csv",
      table("device,date,time,event") { "\($1),1/15/2026,8:0\($0) AM,\(names[$0])" }
    ) { $0.written = [#""paths": ["date", "time"], "join": " ", "time": "MM/dd/yyyy hh:mm a""#] },
    Export(
      "CSV with short names and JSON in a column", "in.csv",
      table("uid,ts,evt,props") { "\($1),2026-01-15 08:0\($0):00,\(names[$0]),\"{\"\"page\"\":\"\"p\($0)\"\"}\"" }
    ) { $0.written = [#""jsonColumns": ["props"]"#, #""params": [{"others": "props", "flatten": "."}"#] },
    Export("TSV without a header", "in.tsv", lines { "\($1)\t2026-01-15T08:0\($0):00Z\t\(names[$0])" }) {
      $0.written = [#""columns": ["column1", "column2", "column3"]"#, "//   column1: phone-0001"]
      $0.code = 65
      $0.told = [
        "a tab-separated table without a header",
        "guessed: deviceId (column1), name (column3); check shop/map.json",
      ]
    },
    Export(
      "TSV without a header and with named columns", "in.tsv", lines { "\($1)\t2026-01-15T08:0\($0):00Z\t\(names[$0])" }
    ) {
      $0.options = ["--device", "column1", "--name", "column3"]
    },
    Export(
      "Segment calls", "in.ndjson",
      lines {
        #"{"type":"track","event":"\#(names[$0])","anonymousId":"\#($1)","userId":"u-\#($1.suffix(1))","messageId":"m\#($0)","timestamp":"2026-01-15T08:0\#($0):00.000Z","properties":{"a":1}}"#
      }
    ) {
      $0.written = [#""map": "segment""#]
      $0.people = ["u-1", "u-2"]
    },
    Export(
      "Segment calls in an array", "in.json",
      "["
        + rows {
          #"{"type":"track","event":"\#(names[$0])","anonymousId":"\#($1)","messageId":"m\#($0)","timestamp":"2026-01-15T08:0\#($0):00.000Z"}"#
        }.joined(separator: ",") + "]"
    ) { $0.written = [#""form": "json""#, #""include": ["segment"]"#] },
    Export(
      "Segment's table of a warehouse", "in.csv",
      table("id,received_at,anonymous_id,context_device_id,event,timestamp,user_id") {
        "i\($0),2026-01-15 09:00:00 UTC,anon-\($0),\($1),\(names[$0]),2026-01-15 08:0\($0):00 UTC,user-\($1.suffix(1))"
      }
    ) {
      $0.written = [#""deviceId": "context_device_id""#, #""path": "timestamp""#]
      $0.people = ["user-1", "user-2"]
    },
    Export(
      "FCM messages", "in.ndjson",
      lines {
        #"{"token":"\#($1)","sent_at":"2026-01-15T08:0\#($0):00Z","message":{"notification":{"title":"Sale"},"data":{"CurrentCampaign":"sale"}}}"#
      }
    ) {
      $0.written = [#""notifications": [{ "path": "../in.ndjson", "map": "fcm" }]"#]
      $0.event = "48"
    },
    Export(
      "a log of pushes with what became of each", "in.ndjson",
      lines {
        #"{"token":"\#($1)","sent_at":"2026-01-15T08:0\#($0):00Z","status":"\#($0 == 9 ? "sent" : $0 % 2 == 0 ? "opened" : "clicked")","payload":{"aps":{"alert":"Sale"},"CurrentCampaign":"sale"}}"#
      }
    ) {
      $0.written = [
        #""action": {"path": "status", "table": {"clicked": "opened", "opened": "opened"}"#,
        #""payload": {"members": "payload"}"#,
      ]
      $0.event = "49"
    },
    Export(
      "a log of pushes as a table", "in.csv",
      table("sent_at,token,status,campaign,title") {
        "2026-01-15 08:0\($0):00,\($1),\(["opened", "Clicked", "opened", "opened"][$0]),sale,Hello"
      } + "2026-01-15 08:09:00,phone-0001,sent,sale,Hello\n"
    ) {
      $0.written = [
        #"{"when": {"status": ["sent"]}, "leaveOut": "neither received nor opened"}"#,
        #""payload.CurrentCampaign": "campaign""#, #""payload.aps.alert": "title""#,
      ]
      $0.event = "49"
    },
    Export(
      "an array of APNs payloads", "in.json", #"[{"aps":{"alert":"a"},"CurrentCampaign":"x"},{"aps":{"alert":"b"}}]"#
    ) {
      $0.code = 65
      $0.written = [#""deviceId": """#, #""payload": {"members": "$"}"#]
      $0.told = ["nothing looks like deviceId, timestamp; fill in the empty values in shop/map.json"]
    },
    Export("a list of URLs", "in.txt", "https://shop.example/a?CurrentCampaign=x\nhttps://shop.example/b\n") {
      $0.code = 65
      $0.written = [#""form": "text""#, #""url": "line""#]
      $0.told = ["a link needs a device and a time: TIME<TAB>DEVICE<TAB>URL, or a map such as samples/maps/links.json"]
    },
    Export(
      "the project's own lines of links", "in.tsv",
      lines { "2026-01-15T08:0\($0):00Z\t\($1)\tapp://shop/a?n=\($0)" }
    ) {
      $0.written = [#""deepLinks": ["../in.tsv"]"#]
      $0.told = ["records in the program's own format, read without a map, as deepLinks"]
      $0.event = "13"
    },
    Export(
      "a table of links", "in.csv",
      table("opened_at,device,link") { "2026-01-15T08:0\($0):00Z,\($1),app://shop/a?n=\($0)" }
    ) {
      $0.written = [#""url": "link""#]
      $0.event = "13"
    },
    Export(
      "rows of Airbyte", "in.ndjson",
      lines {
        #"{"_airbyte_ab_id":"a\#($0)","_airbyte_emitted_at":1768600000000,"_airbyte_data":{"event":"\#(names[$0])","device_id":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","page":"home"}}"#
      }
    ) { $0.written = [#""record": "_airbyte_data""#] },
    Export(
      "messages of a Singer tap", "in.ndjson",
      lines {
        #"{"type":"RECORD","stream":"events","time_extracted":"2026-02-01T00:00:00Z","record":{"event":"\#(names[$0])","device_id":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","page":"home"}}"#
      }
    ) { $0.written = [#""record": "record""#] },
    Export(
      "messages of a Singer tap of which all have the same name", "in.ndjson",
      #"{"type":"SCHEMA","stream":"events","schema":{"type":"object"},"key_properties":["id"]}"# + "\n"
        + lines {
          #"{"type":"RECORD","stream":"events","record":{"event":"Viewed","device_id":"\#($1)","time":"2026-01-15T08:0\#($0):00Z"}}"#
        }
    ) { $0.written = [#""record": "record""#, #""name": "event""#] },
    Export(
      "messages of a bus", "in.ndjson",
      lines {
        #"{"version":"0","id":"i\#($0)","source":"shop","account":"12","time":"2026-01-15T09:00:00Z","detail":{"event":"\#(names[$0])","device_id":"\#($1)","timestamp":"2026-01-15T08:0\#($0):00Z","page":"home"}}"#
      }
    ) { $0.written = [#""record": "detail""#] },
    Export(
      "documents of a search engine", "in.ndjson",
      lines {
        #"{"_index":"events","_id":"i\#($0)","_source":{"event":"\#(names[$0])","device_id":"\#($1)","timestamp":"2026-01-15T08:0\#($0):00Z"}}"#
      }
    ) { $0.written = [#""record": "_source""#] },
    Export(
      "Segment calls on a bus", "in.ndjson",
      lines {
        #"{"id":\#($0),"detail":{"type":"track","event":"\#(names[$0])","anonymousId":"\#($1)","messageId":"m\#($0)","timestamp":"2026-01-15T08:0\#($0):00Z"}}"#
      }
    ) { $0.written = [#""map": "segment", "record": "detail""#] },
    Export(
      "own records on a bus", "in.ndjson",
      lines {
        #"{"id":\#($0),"detail":{"type":"namedEvent","name":"\#(names[$0])","deviceId":"\#($1)","timestamp":"2026-01-15T08:0\#($0):00Z"}}"#
      }
    ) { $0.written = [#"{ "path": "../in.ndjson", "record": "detail" }"#] },
    Export(
      "CSV of Spark", "in.csv",
      table("device,time,event,note") {
        "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),\($0 == 0 ? #""say \"hi\" \\now""# : #"C:\new\"#)"
      }
    ) {
      $0.written = [#""escape": "\\\"""#]
      $0.told = [#""note":"say \"hi\" \\now""#, #""note":"C:\\new\\""#]
    },
    Export(
      "CSV of MySQL", "in.csv",
      table("device,time,event,note") {
        "\"\($1)\",\"2026-01-15T08:0\($0):00Z\",\"\(names[$0])\",\($0 == 0 ? #""say \"hi\"\"# + "\n" + #"now""# : #"\N"#)"
      }
    ) {
      $0.written = [#""escape": "\\","#]
      $0.told = [#""note":"say \"hi\"\nnow""#]
    },
    Export(
      "CSV with NULL", "in.csv",
      table("device,time,event,user_id") {
        "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),\($0 % 2 == 0 ? "u-1" : "NULL")"
      }
    ) {
      $0.written = [#""null": ["NULL", "\\N"]"#]
      $0.people = ["u-1"]
    },
    Export(
      "own records, two in a line", "in.ndjson",
      rows {
        #"{"deviceId":"\#($1)","timestamp":"2026-01-15T08:0\#($0):00Z","type":"namedEvent","name":"\#(names[$0])"}"#
          + ($0 == 1 ? "" : "\n")
      }.joined()
    ) { $0.written = [#""form": "json""#] },
    Export(
      "own records whose times only a map reads", "in.ndjson",
      lines {
        #"{"deviceId":"\#($1)","timestamp":"2026-01-15 03:0\#($0):00-05","type":"namedEvent","name":"\#(names[$0])","mobileUserId":null}"#
      }
    ) { $0.written = [#""timestamp": {"path": "timestamp", "zone": "UTC"}"#] },
    Export(
      "rows of dlt", "in.ndjson",
      lines {
        #"{"device_id":"\#($1)","timestamp":"2026-01-15T08:0\#($0):00+00:00","type":"namedEvent","name":"\#(names[$0])","params__n":\#($0),"_dlt_load_id":"1768.1","_dlt_id":"x\#($0)"}"#
      }
    ) { $0.written = [#""type": {"path": "type"}"#, #""name": "name""#] },
    Export(
      "CSV in UTF-16", "in.csv",
      [0xFF, 0xFE]
        + table("device,time,event") { "\($1),2026-01-15T08:0\($0):00Z,\(names[$0])" }.utf8.flatMap { [$0, 0] }
    ) { $0.written = [#""encoding": "utf-16""#] },
    Export(
      "epoch seconds", "in.ndjson",
      lines { #"{"device":"\#($1)","ts":\#(1_768_464_000 + 60 * $0),"event":"\#(names[$0])"}"# }),
    Export(
      "epoch milliseconds", "in.csv",
      table("device,ts,event") { "\($1),\(1_768_464_000_000 + 60_000 * $0),\(names[$0])" }),
    Export(
      "nanoseconds", "in.ndjson",
      lines {
        #"{"device":"\#($1)","time":\#(1_768_464_000_000_000_000 + 60_000_000_000 * $0),"event":"\#(names[$0])"}"#
      }),
    Export("days of a spreadsheet", "in.csv", table("device,time,event") { "\($1),46037.33\($0),\(names[$0])" }) {
      $0.code = 65
      $0.told = ["'time' looks like spreadsheet serial dates, which maps cannot read", "nothing looks like timestamp"]
    },
    Export("days alone", "in.csv", table("device,day,event") { "\($1),2026-01-1\($0),\(names[$0])" }) {
      $0.code = 65
      $0.told = ["dates without times, so all records of a day are at midnight", "guessed: timestamp (day)"]
    },
    Export(
      "dates of which either number may be the day", "in.csv",
      table("device,time,event") { "\($1),02/0\($0 + 1)/2026 10:00:00,\(names[$0])" }
    ) {
      $0.code = 65
      $0.told = ["MM/dd/yyyy HH:mm:ss or dd/MM/yyyy HH:mm:ss: these records fit both"]
    },
    Export(
      "a table of Hive", "in.tsv",
      table("device_id\tevent_time\tevent_name\tuser_id") {
        "\($1)\t2026-01-15 08:0\($0):00\t\(names[$0])\t\($0 % 2 == 0 ? "u-1" : "\\N")"
      }
    ) { $0.people = ["u-1"] },
    Export(
      "a table of Snowflake", "in.csv",
      table("DEVICE_ID,EVENT_TIMESTAMP,EVENT_NAME,USER_ID") {
        "\($1),2026-01-15 08:0\($0):00.000 Z,\(names[$0]),u-\($1.suffix(1))"
      }
    ) {
      $0.written = [#""deviceId": "DEVICE_ID""#]
      $0.people = ["u-1", "u-2"]
    },
    Export(
      "a folder of Spark", "in/part-00000.json",
      lines { #"{"device":"\#($1)","time":"2026-01-15T03:0\#($0):00.000-05:00","event":"\#(names[$0])"}"# }
    ) { $0.files += [("in/_SUCCESS", []), ("in/.part-00000.json.crc", [0x63, 0x72, 0x63, 0, 1, 2, 3, 4])] },
    Export(
      "columns that say nothing", "in.csv", table("a,b,c,d") { "\(5 + $0),15-Jan-2026 08:0\($0):00,\($1),\(names[$0])" }
    ) {
      $0.options = ["--device", "c", "--time", "b", "--name", "d", "--zone", "UTC"]
      $0.written = [#""timestamp": {"path": "b", "time": "dd-MMM-yyyy HH:mm:ss", "zone": "UTC"}"#]
    },
  ]

  @Test("It reads what was put in, or says what it cannot know", arguments: exports + doubtful + misread)
  func export(_ export: Export) throws {
    let workspace = try Workspace([])
    for file in export.files { try workspace.write(file.path, file.bytes) }
    let from = export.files.count > 1 ? "in" : export.files[0].path
    let made = try workspace.run(["init", "shop", "--from", from] + export.options)
    #expect(made.code == export.code, "\(made.messages)")
    for words in export.told { #expect(made.messages.contains(words), "\(words) in \(made.messages)") }
    let map = workspace.exists("shop/map.json") ? try workspace.read("shop/map.json") : ""
    let written = try map + workspace.read("shop/job.json")
    for words in export.written { #expect(written.contains(words), "\(words) in \(written)") }
    guard export.code == 0 else { return }
    let run = try workspace.run("run", "shop/job.json", "--dry-run", "--events-out", "events.out")
    #expect(run.code == 0, "\(run.messages)")
    let events = try workspace.read("events.out").split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
      .filter { $0["eventTypeCode"]?.string == export.event }
    func values(_ name: String) -> [String] {
      Set(
        events.flatMap { $0["attributes"]?.array ?? [] }.filter { $0["name"]?.string == name }
          .compactMap { $0["value"]?.scalar }.filter { !$0.isEmpty }
      ).sorted()
    }
    #expect(events.compactMap { $0["eventTimestamp"]?.string } == export.times, "\(run.messages)")
    #expect(values("Device Id") == export.devices)
    // Without a user id a device has one that is made for it.
    #expect(values("Primary User Id").filter { UUID(uuidString: $0) == nil } == export.people)
  }
}
