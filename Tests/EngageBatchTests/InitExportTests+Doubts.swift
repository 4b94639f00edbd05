import TestSupport
import Testing

/// Exports whose names promise what their values are not.
extension InitExportTests {
  static let doubtful: [Export] = [
    Export("lines of a log with tabs", "in.tsv", lines { "2026-01-15T08:0\($0):00Z\t\($1)\t\(names[$0])" }) {
      $0.code = 65
      $0.told = ["a tab-separated table without a header", "guessed: deviceId (column2), name (column3)"]
    },
    Export(
      "what a player does", "in.csv",
      table("device,time,event,track") { "\($1),2026-01-15T08:0\($0):00Z,\(["start", "pause", "open", "close"][$0]),t" }
    ) { $0.written = [#""type": "namedEvent""#] },
    Export(
      "orders with a status", "in.csv",
      table("device,time,event,status") {
        "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),\(["opened", "delivered", "received", "opened"][$0])"
      }
    ) { $0.written = [#""events": ["#, #""fields": {"name": "event""#] },
    Export(
      "requests for help with a status", "in.csv",
      table("device,time,status,subject") {
        "\($1),2026-01-15T08:0\($0):00Z,\(["Opened", "Received", "Opened", "Received"][$0]),Help"
      }
    ) {
      $0.code = 65
      $0.told = ["guessed: name (status)"]
    },
    Export(
      "pushes and mails in one log", "in.csv",
      table("device,time,status,push_id,email") { "\($1),2026-01-15T08:0\($0):00Z,opened,p\($0),a@shop.example" }
    ) {
      $0.code = 65
      $0.told = ["'status' may refer to pushes or to something else"]
    },
    Export(
      "a log of pushes whose payload is a text", "in.ndjson",
      lines {
        #"{"token":"\#($1)","sent_at":"2026-01-15T08:0\#($0):00Z","action":"opened","payload":"{\"aps\":{\"alert\":\"Sale\"},\"CurrentCampaign\":\"sale\"}"}"#
      }
    ) {
      $0.written = [#""map": "apns""#]
      $0.event = "49"
    },
    Export(
      "a log of FCM messages", "in.ndjson",
      lines {
        #"{"push_token":"\#($1)","ts":"2026-01-15T08:0\#($0):00Z","event":"push_opened","message":{"title":"Hi","data":{"CurrentCampaign":"sale"}}}"#
      }
    ) {
      $0.written = [
        #""payload": {"members": "message.data"}"#, #""payload.aps.alert": "message.title""#,
        #""payload.CurrentCampaign": "message.data.CurrentCampaign""#,
      ]
      $0.event = "49"
    },
    Export(
      "a log of pushes with a button of the app's own", "in.ndjson",
      lines {
        #"{"handset":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"\#(["opened", "REPLY", "opened", "received"][$0])","payload":"{\"aps\":{\"alert\":\"Sale\"}}"}"#
      }
    ) {
      $0.code = 65
      $0.written = [#""action": {"path": "#]
      $0.told = [
        "'event' has 'REPLY', which may mean received, opened or neither: add each value to the table of 'action'"
      ]
    },
    Export(
      "a log of pushes that knows only a button", "in.ndjson",
      lines {
        #"{"handset":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","action":"REPLY","payload":{"aps":{"alert":"Sale"}}}"#
      }
    ) {
      $0.code = 65
      $0.told = [
        "every record will count as received; if 'action' shows whether the push arrived, filter on that column"
      ]
    },
    Export(
      "taps as iOS calls them", "in.ndjson",
      lines {
        #"{"handset":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"com.apple.UNNotificationDefaultActionIdentifier","payload":{"aps":{"alert":"Sale"}}}"#
      }
    ) { $0.event = "49" },
    Export(
      "devices that are JSON in a text within", "in.ndjson",
      lines {
        #"{"data":{"device":"{\"id\":\"\#($1)\",\"battery\":\#($0)}"},"time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])"}"#
      }
    ) {
      $0.code = 65
      $0.told = [#"(objects or lists in strings, such as '{"id":"phone-0001","battery":0}'"#]
    },
    Export(
      "names that are objects of Python", "in.csv",
      table("device,time,event") { "\($1),2026-01-15T08:0\($0):00Z,{'name': 'Viewed'}" }
    ) {
      $0.code = 65
      $0.told = ["'event' contains JSON in strings, such as '{'name': 'Viewed'}'"]
    },
    own("days of a spreadsheet", "46037.33"),
    own("seconds since 2001", "790156800.5"),
    own("a day in digits", "20260115"),
    own("a date in digits", "20260115080000", "more than a day in the future"),
    Export(
      "own records with times in digits in a text", "in.ndjson",
      lines {
        #"{"deviceId":"\#($1)","timestamp":"2026011508\#("0\($0)")00","type":"namedEvent","name":"\#(names[$0])"}"#
      }
    ) { $0.written = [#""timestamp": {"path": "timestamp", "time": "yyyyMMddHHmmss", "zone": "UTC"}"#] },
    Export(
      "own records of a device and a person that are nobody", "in.ndjson",
      lines {
        #"{"deviceId":"\#(["null", $1][$0 % 2])","timestamp":"2026-01-15T08:0\#($0):00Z","type":"launch","mobileUserId":"NULL"}"#
      }
    ) {
      $0.code = 65
      $0.told = [
        "  2 devices, 0 people, 4 records",
        "  mobileUserId identifies nobody in 4 records; one value is 'NULL'\n",
        "the deviceId 'null' identifies no device, so all records with it would be treated as those of one device",
      ]
    },
    Export(
      "models for devices", "in.csv",
      table("device,time,event") { row, _ in
        "\(["iPhone 15", "Pixel 9"][row % 2]),2026-01-15T08:0\(row):00Z,\(names[row])"
      }
    ) {
      $0.code = 65
      $0.told = ["device models or types, which many people share", "guessed: deviceId (device)"]
    },
    Export(
      "devices of more people", "in.csv",
      table("device,user_id,time,event") { "\($1),u-\($0),2026-01-15T08:0\($0):00Z,\(names[$0])" }
    ) {
      $0.code = 65
      $0.told = ["2 devices, each shared by several of 4 people"]
    },
    Export(
      "devices that a spreadsheet rounded", "in.csv",
      table("device,time,event") { row, _ in "3.5\(row % 2)E+14,2026-01-15T08:0\(row):00Z,\(names[row])" }
    ) {
      $0.code = 65
      $0.told = ["numbers rounded by a spreadsheet"]
    },
    Export(
      "people with a fraction", "in.csv",
      table("device,user_id,time,event") { "\($1),1\($0 % 2).0,2026-01-15T08:0\($0):00Z,\(names[$0])" }
    ) {
      $0.code = 65
      $0.told = ["'user_id' has integers written with a decimal point, such as 12.0"]
    },
    Export(
      "a device that nobody knows", "in.csv",
      table("device_id,idfv,time,event") {
        "\($0 == 3 ? "x-1" : "unknown"),\($1),2026-01-15T08:0\($0):00Z,\(names[$0])"
      }
    ) { $0.written = [#""deviceId": "idfv""#] },
    Export(
      "the time of the server first", "in.csv",
      table("server_time,device,event,client_time") {
        "2026-01-16T02:00:00Z,\($1),\(names[$0]),2026-01-15T08:0\($0):00Z"
      }
    ) { $0.written = [#""path": "client_time""#] },
    Export(
      "a time in UTC and a local one", "in.csv",
      table("device,time_local,time_utc,event") {
        "\($1),2026-01-15 03:0\($0):00,2026-01-15 08:0\($0):00,\(names[$0])"
      }
    ) { $0.written = [#""path": "time_utc""#] },
    Export(
      "two times of which none is the event's", "in.csv",
      table("device,start_time,stop_time,event") {
        "\($1),2026-01-15T08:0\($0):00Z,2026-01-15T09:0\($0):00Z,\(names[$0])"
      }
    ) {
      $0.code = 65
      $0.told = ["or 'stop_time'", "guessed: timestamp (start_time)"]
    },
    Export(
      "a column of offsets", "in.csv",
      table("device,time,utc_offset,event") {
        "\($1),2026-01-15 \(["09", "03"][$0 % 2]):0\($0):00,\(["+01:00", "-05:00"][$0 % 2]),\(names[$0])"
      }
    ) { $0.written = [#""paths": ["time", "utc_offset"], "join": " ""#] },
    Export(
      "a column of one zone", "in.csv",
      table("device,time,timezone,event") { "\($1),2026-01-15 09:0\($0):00,Europe/Berlin,\(names[$0])" }
    ) {
      $0.written = [#""zone": "Europe/Berlin""#]
      $0.told = ["read as Europe/Berlin, the zone in 'timezone'"]
    },
    Export(
      "a column of two zones", "in.csv",
      table("device,time,timezone,event") {
        "\($1),2026-01-15 09:0\($0):00,\(["Europe/Berlin", "America/New_York"][$0 % 2]),\(names[$0])"
      }
    ) {
      $0.code = 65
      $0.told = ["the zone of each time is in 'timezone', which a map cannot read"]
    },
    Export(
      "blanks before some devices", "in.csv",
      table("device,time,event") { row, _ in "\(["", " "][row % 2])phone-0001,2026-01-15T08:0\(row):00Z,\(names[row])" }
    ) {
      $0.code = 65
      $0.told = ["remove blanks, quotes and invisible characters around the values of 'device', such as ' phone-0001'"]
    },
    Export(
      "lines that end in commas", "in.ndjson",
      lines { #"{"device":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])"}\#(["", ","][$0 % 2])"# }
    ) {
      $0.written = [#""form": "json""#]
    },
    Export(
      "lines of which some are cut", "in.ndjson",
      lines {
        #"{"device":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])"\#(["}", ""][$0 % 2])"#
      }
    ) {
      $0.code = 65
      $0.told = ["2 of 4 records would be rejected"]
    },
    Export(
      "properties that are JSON in a text", "in.ndjson",
      lines {
        #"{"device":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])","properties":"{\"n\":1}"}"#
      }
    ) { $0.written = [#""jsonColumns": ["properties"]"#, #"{"others": "properties", "flatten": "."}"#] },
    Export(
      "rows of a warehouse with a vendor's list in a column", "in.csv",
      table("event_date,event_timestamp,event_name,user_pseudo_id,event_params") {
        "20260115,1768464\(["000", "060", "120", "180"][$0])000000,tap,\($1),\"[{\"\"key\"\":\"\"n\"\",\"\"value\"\":{\"\"int_value\"\":1}}]\""
      }
    ) {
      $0.written = ["\"form\": \"csv\",\n  \"include\": [\"ga4\"]"]
      $0.told = ["read by the preset 'ga4'", #""params":{"n":1}"#]
    },
    Export(
      "a vendor's events in a list of an answer", "in.json",
      "{\"ok\":true,\"data\":{\"events\":["
        + rows {
          #"{"type":"track","event":"\#(names[$0])","anonymousId":"\#($1)","messageId":"m\#($0)","timestamp":"2026-01-15T08:0\#($0):00Z"}"#
        }.joined(separator: ",") + "]}}\n"
    ) { $0.written = [#""each": "data.events""#, #""include": ["segment"]"#] },
    Export(
      "records far inside", "in.ndjson",
      lines {
        #"{"type":"RECORD","record":{"stream":"s","data":"{\"_airbyte_data\":{\"device\":\"\#($1)\",\"time\":\"2026-01-15T08:0\#($0):00Z\",\"event\":\"\#(names[$0])\"},\"x\":1}"}}"#
      }
    ) { $0.written = [#""record": "record.data""#] },
    Export(
      "pushes and what the service answered", "in.csv",
      table("device_token,timestamp,status,payload") {
        "\($1),2026-01-15T08:0\($0):00Z,\([200, 410][$0 % 2]),\"{\"\"aps\"\":{\"\"alert\"\":\"\"x\"\"}}\""
      }
    ) {
      $0.code = 65
      $0.told = [
        "every record will count as received; if 'status' shows whether the push arrived, filter on that column"
      ]
    },
    Export(
      "an array of a property list", "in.plist",
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><array>"
        + rows {
          "<dict><key>device</key><string>\($1)</string><key>time</key><date>2026-01-15T08:0\($0):00Z</date><key>event</key><string>\(names[$0])</string></dict>"
        }.joined() + "</array></plist>\n"
    ) {
      $0.written = [#""form": "json""#]
      $0.told = ["a property list; no preset reads it"]
    },
    Export(
      "a table that never quotes", "in.tsv",
      table("device\ttime\tevent\tnote") {
        "\($1)\t2026-01-15T08:0\($0):00Z\t\(names[$0])\t\(["x", "\"y", "x", "x"][$0])"
      }
    ) { $0.written = [#""quotes": "none""#] },
    Export(
      "a person of the vendor's and one of the app's", "in.ndjson",
      lines {
        #"{"user_id":"b\#($0)","external_user_id":"u-\#($1.suffix(1))","device_id":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","name":"\#(names[$0])"}"#
      }
    ) { $0.people = ["u-1", "u-2"] },
    Export(
      "people as programs write none", "in.csv",
      table("device,time,event,user_id") {
        "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),\(["u-1", "nan", "None", "N/A"][$0])"
      }
    ) { $0.people = ["u-1"] },
    Export(
      "people called as a value is", "in.csv",
      table("device,time,event,user_id,plan") {
        "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),\(["u-1", "none", "u-1", "u-2"][$0]),\(["none", "gold", "none", "none"][$0])"
      }
    ) {
      $0.code = 65
      $0.told = ["'none' is used for missing ids"]
    },
    Export(
      "a list in JSON in a column", "in.csv",
      table("device,time,event,items") { "\($1),2026-01-15T08:0\($0):00Z,\(names[$0]),\"[{\"\"n\"\":1}]\"" }
    ) {
      $0.code = 65
      $0.told = ["'items' contains JSON in strings"]
    },
    Export(
      "links beside their campaigns", "in.csv",
      table("device,time,url,campaign") { "\($1),2026-01-15T08:0\($0):00Z,app://shop/a,sale" }
    ) {
      $0.code = 65
      $0.told = ["a link's campaign is read from its URL, not from 'campaign'"]
    },
    Export(
      "Segment calls in the texts of a queue", "in.ndjson",
      lines {
        #"{"MessageId":"\#($0)","Body":"{\"type\":\"track\",\"event\":\"\#(names[$0])\",\"anonymousId\":\"\#($1)\",\"messageId\":\"m\#($0)\",\"timestamp\":\"2026-01-15T08:0\#($0):00Z\"}"}"#
      }
    ) { $0.written = [#""map": "segment", "record": "Body""#] },
    Export(
      "row numbers without a name", "in.csv",
      table(",device,time,event") { "\($0),\($1),2026-01-15T08:0\($0):00Z,\(names[$0])" }),
    Export(
      "an answer with a list of events", "in.json",
      "{\"ok\":true,\"data\":{\"events\":["
        + rows { #"{"device":"\#($1)","time":"2026-01-15T08:0\#($0):00Z","event":"\#(names[$0])"}"# }
        .joined(separator: ",") + "]}}"
    ) { $0.written = [#""each": "data.events""#] },
  ]

  /// Records of the project's own shape whose times are read as others.
  private static func own(_ what: String, _ time: String, _ words: String? = nil) -> Export {
    Export(
      "own records with \(what)", "in.ndjson",
      lines { #"{"deviceId":"\#($1)","timestamp":\#(time),"type":"namedEvent","name":"\#(names[$0])"}"# }
    ) {
      $0.code = 65
      let words = words ?? "before 2008; perhaps \(what == "a day in digits" ? "yyyyMMdd" : what): 2026-01-15"
      $0.told = [
        "the time of 4 of 4 records is probably wrong: record 1 is dated ", "by its timestamp '\(time)' (\(words))",
      ]
    }
  }
}
