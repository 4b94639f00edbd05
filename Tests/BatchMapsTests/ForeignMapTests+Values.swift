import BatchFoundation
import BatchIngest
import TestSupport
import Testing

@testable import BatchMaps

/// The values that a map makes of those in a record: times, numbers, ids and other conversions.
extension ForeignMapTests {
  /// Where clocks skip a time it is perhaps of another zone; without this it was another time, or one in UTC.
  @Test func timesThatAZoneDoesNotHaveAreNone() throws {
    func line(_ source: String, _ text: String) throws -> [String] {
      try lines(#"{"timestamp": {"path": "t", \#(source)"zone": "Europe/Berlin"}}"#, #"{"t": "\#(text)"}"#)
    }
    let pattern = #""time": "dd/MM/yyyy HH:mm", "#
    for (source, text, time) in [
      ("", "2026-03-29 01:59:59", "2026-03-29T00:59:59.000Z"), ("", "2026-03-29 03:00", "2026-03-29T01:00:00.000Z"),
      ("", "2026-03-29 02:30:00", "no time: 2026-03-29 02:30:00"), (pattern, "29/03/2026 02:30", "29/03/2026 02:30"),
      ("", "2026-03-29 02:30:00Z", "2026-03-29T02:30:00.000Z"), ("", "2026-10-25 02:30:00", "2026-10-25T00:30:00.000Z"),
      (pattern, "2026-01-15 08:00:00", "no time: 2026-01-15 08:00:00"),
      (pattern, "2026-01-15T08:00:00+01:00", "2026-01-15T08:00:00+01:00"),
    ] {
      #expect(try line(source, text) == [#"{"timestamp":"\#(time)"}"#], "\(text)")
    }
    // A day begins where its midnight is skipped, too.
    #expect(
      try lines(
        #"{"timestamp": {"path": "t", "time": "yyyy-MM-dd", "zone": "Africa/Cairo"}}"#, #"{"t": "2026-04-24"}"#)
        == [#"{"timestamp":"2026-04-23T22:00:00.000Z"}"#])
    let map = try read(#"{"fields": {"timestamp": {"path": "t", "zone": "Europe/Berlin"}}}"#).map
    let rejection = Rejection(reason: .invalidTimestamp, field: "timestamp")
    #expect(
      map.detail(of: rejection, rule: 0, record: Array(#"{"t": "2026-03-29 02:30:00"}"#.utf8))
        == "field 'timestamp': '2026-03-29 02:30:00' is not a time in the map's zone (skipped by a clock change; perhaps the times are in another zone): the map 'map.json' reads the field from 't'"
    )
    let joined = try read(
      #"{"fields": {"timestamp": {"paths": ["day", "time"], "time": "dd.MM.yyyy HH:mm", "zone": "Europe/Berlin"}}}"#
    ).map
    #expect(
      joined.detail(of: rejection, rule: 0, record: Array(#"{"day": "29.03.2026", "time": "02:30"}"#.utf8))
        .hasPrefix("field 'timestamp': '29.03.2026 02:30' is not a time in the map's zone (skipped by a clock change"))
  }

  @Test func timesBecomeTheOneForm() throws {
    for (source, value, expected) in [
      (#""t""#, #""2026-01-15T08:00:00+01:00""#, "2026-01-15T07:00:00.000Z"),
      (#""t""#, #""2026-01-15 08:00:00.123456""#, "2026-01-15T08:00:00.123Z"),
      (#""t""#, #""2026-01-15 08:00:00.5 UTC""#, "2026-01-15T08:00:00.500Z"),
      (#""t""#, "1768464000", "2026-01-15T08:00:00.000Z"), (#""t""#, #""1768464000123""#, "2026-01-15T08:00:00.123Z"),
      (#""t""#, "1768464000123456", "2026-01-15T08:00:00.123Z"),
      (#""t""#, "1768464000123456789", "2026-01-15T08:00:00.123Z"),
      (#""t""#, #""1768464000123456789""#, "2026-01-15T08:00:00.123Z"),
      (#""t""#, "99999999999", "5138-11-16T09:46:39.000Z"), (#""t""#, "100000000000", "1973-03-03T09:46:40.000Z"),
      (#""t""#, "100000000000000", "1973-03-03T09:46:40.000Z"),
      (#""t""#, "100000000000000000", "1973-03-03T09:46:40.000Z"),
      (#"{"path": "t", "time": "dd.MM.yyyy"}"#, #""15.01.2026""#, "2026-01-15T00:00:00.000Z"),
      (#"{"path": "t", "time": "seconds"}"#, "1768464000.25", "2026-01-15T08:00:00.250Z"),
      (#"{"path": "t", "time": "microseconds"}"#, #""2026-01-15 08:00:00 UTC""#, "2026-01-15T08:00:00.000Z"),
      (#"{"path": "t", "time": "nanoseconds"}"#, "1768464000123456789", "2026-01-15T08:00:00.123Z"),
      (#"{"path": "t", "time": "dd/MM/yyyy hh:mm a"}"#, #""15/01/2026 08:05 PM""#, "2026-01-15T20:05:00.000Z"),
      (#"{"path": "t", "time": "MMM d yyyy HH:mm:ss Z"}"#, #""Jan 5 2026 08:05:00 -0200""#, "2026-01-05T10:05:00.000Z"),
    ] {
      #expect(try lines(#"{"timestamp": \#(source)}"#, #"{"t": \#(value)}"#) == [#"{"timestamp":"\#(expected)"}"#])
    }
    // What is no time stays, and the reader refuses it in the words of a timestamp.
    for text in [
      "30 February", "2026-01-15", "2026-01-15T", "2026-01-15Z", "2026-02-30T08:00:00.000Z", " 026-01-15T08:00:00.000Z",
    ] {
      #expect(try lines(#"{"timestamp": "t"}"#, #"{"t": "\#(text)"}"#) == [#"{"timestamp":"\#(text)"}"#])
    }
    #expect(
      try lines(#"{"timestamp": "t"}"#, #"{"t": " 2026-01-15T08:00:00.000Z "}"#)
        == [#"{"timestamp":"2026-01-15T08:00:00.000Z"}"#])
  }

  /// Whoever reads the line would take them for seconds.
  @Test func numbersThatAPatternDoesNotReadAreNoTimes() throws {
    for (pattern, value, expected) in [
      ("yyyyMMddHHmmss", "20260115080000.0", "2026-01-15T08:00:00.000Z"),
      ("yyyyMMddHHmmss", #""20260115080000.0""#, "2026-01-15T08:00:00.000Z"),
      ("yyyyMMddHHmmss", "20260115080000", "2026-01-15T08:00:00.000Z"),
      ("yyyyMMddHHmmss.S", "20260115080000.5", "2026-01-15T08:00:00.500Z"),
      ("yyyyMMdd", "20260115.0", "2026-01-15T00:00:00.000Z"), ("yyyyMMdd", "1768464000", "no time: 1768464000"),
      ("yyyy-MM-dd", "20260115.0", "no time: 20260115.0"), ("milliseconds", "-1", "no time: -1"),
      ("yyyyMMdd", #""2026115""#, "2026115"), ("ddMMyyyy", #""5012026""#, "5012026"),
      ("MM/dd/yyyy H:mm", #""1/5/2026 8:05""#, "2026-01-05T08:05:00.000Z"),
      ("ddMMMyyyy", #""5Jan2026""#, "2026-01-05T00:00:00.000Z"),
    ] {
      #expect(
        try lines(#"{"timestamp": {"path": "t", "time": "\#(pattern)"}}"#, #"{"t": \#(value)}"#)
          == [#"{"timestamp":"\#(expected)"}"#], "\(pattern) \(value)")
    }
  }

  @Test func valuesTakeTheFormThatIsAskedFor() throws {
    #expect(
      try lines(
        #"""
        {"params.n": {"path": "n", "as": "number"}, "params.b": {"path": "b", "as": "boolean"},
         "params.t": {"path": "t", "as": "text"}, "params.u": {"path": "u", "as": "uppercase", "prefix": "p-"},
         "params.x": {"path": "x", "as": "number"}, "latitude": "lat",
         "type": {"path": "k", "table": {"a": "launch"}, "default": "background"}}
        """#, #"{"n": " 1e3", "b": "No", "t": 5, "u": "ab", "x": "01", "lat": "51.5", "k": "b"}"#)
        == [
          #"{"latitude":51.5,"params":{"b":false,"n":1e3,"t":"5","u":"p-AB","x":"01"},"type":"background"}"#
        ])
  }

  @Test func severalPathsBecomeOneText() throws {
    let time = #"{"timestamp": {"paths": ["day", "time"], "time": "dd.MM.yyyy HH:mm", "zone": "UTC"}}"#
    #expect(
      try lines(time, #"{"day": "15.01.2026", "time": "08:30"}"#) == [#"{"timestamp":"2026-01-15T08:30:00.000Z"}"#])
    #expect(try lines(time, #"{"day": "15.01.2026", "time": ""}"#) == [#"{"timestamp":"15.01.2026"}"#])
    let name = #"{"name": {"paths": ["a", "b.c", "d"], "join": "/", "prefix": "p:", "default": "none"}}"#
    #expect(try lines(name, #"{"a": 1, "b": {"c": "x"}, "d": {}}"#) == [#"{"name":"p:1/x"}"#])
    #expect(try lines(name, #"{"d": null}"#) == [#"{"name":"none"}"#])
    #expect(
      try lines(
        #"{"type": {"paths": ["a", "b"], "join": "", "table": {"xy": "launch"}, "default": "background"}}"#,
        #"{"a": "x", "b": "y"}"#)
        == [#"{"type":"launch"}"#])
    #expect(
      try read(#"{"fields": {"name": {"path": "a", "join": "/"}}}"#).faults
        == ["map.json:1: error: 'fields.name.join' has no effect without 'paths'"])
  }

  @Test func numbersCountByTheirValue() throws {
    func id(_ number: String) throws -> String { try lines(#"{"deviceId": "n"}"#, #"{"n": \#(number)}"#)[0] }
    for (number, text) in [
      ("12.0", "12"), ("1.2e1", "12"), ("1200E-2", "12"), ("-3.0", "-3"), ("-0.0", "0"),
      ("1e20", "1" + String(repeating: "0", count: 20)),
      ("1e21", "1e21"), ("12.50", "12.50"), ("0.1e1", "1"), ("12345678901234567890.0", "12345678901234567890"),
    ] {
      #expect(try id(number) == #"{"deviceId":"\#(text)"}"#)
    }
    let (map, faults) = try read(
      #"""
      {"rules": [{"when": {"c": [95, "7.50"], "l[k=3].v": {"begins": "12"}}, "fields": {
        "type": {"path": "c", "table": {"95": "launch", "7.5": "background"}, "default": "terminate"}, "name": {"path": "c", "prefix": "n"}}}]}
      """#)
    #expect(faults == [])
    #expect(
      outcomes(
        of: map,
        [
          #"{"c":95.0,"l":[{"k":3.0,"v":1.2e1}]}"#, #"{"c":7.5,"l":[{"k":3,"v":12}]}"#,
          #"{"c":"95.0","l":[{"k":3,"v":12}]}"#,
          #"{"c":95,"l":[{"k":"3.0","v":12}]}"#,
        ]) == [
          #"{"name":"n95","type":"launch"}"#, #"{"name":"n7.5","type":"background"}"#, "refused: no-rule",
          "refused: no-rule",
        ])
  }

  /// Of what goes elsewhere a number stays as it is written.
  @Test func numbersOfFieldsThatBecomeTextsAreWrittenByTheirValue() throws {
    #expect(
      try lines(
        #"""
        {"eventTypeCode": "c", "contactListId": "i", "programId": "h", "ids.a": "b", "ids": {"members": "o"}, "params.i": "i",
         "payload.CurrentCampaign": "i", "payload.aps": "o", "payload.data": {"members": "o"}}
        """#, #"{"c":99.0,"i":12.0,"h":1.5,"b":9007199254740993.0,"o":{"k":3.0,"l":[4.0],"t":"5.0"}}"#)
        == [
          #"{"contactListId":12,"eventTypeCode":99,"ids":{"a":9007199254740993,"k":3,"l":[4.0],"t":"5.0"},"params":{"i":12.0},"#
            + #""payload":{"CurrentCampaign":12,"aps":{"k":3.0,"l":[4.0],"t":"5.0"},"data":{"k":3,"l":[4.0],"t":"5.0"}},"programId":1.5}"#
        ])
  }

  @Test func theBeginningOfATextIsTakenOff() throws {
    let map = try read(
      #"{"fields": {"deviceId": ["a", {"path": "b", "without": "$device:"}], "params.x": {"path": "b", "without": "$", "prefix": "-"}}}"#
    ).map
    #expect(
      outcomes(
        of: map, [#"{"a":"$device:1","b":"$device:2"}"#, #"{"b":"$device:2"}"#, #"{"b":"$device:"}"#, #"{"b":7}"#])
        == [
          #"{"deviceId":"$device:1","params":{"x":"-device:2"}}"#, #"{"deviceId":"2","params":{"x":"-device:2"}}"#,
          #"{"deviceId":"$device:","params":{"x":"-device:"}}"#, #"{"deviceId":"7","params":{"x":"-7"}}"#,
        ])
  }

  @Test func aTableIsAskedInTheCaseThatIsSaid() throws {
    let fields = #"{"type": {"path": "k", "as": "lowercase", "table": {"go": "launch"}, "default": "background"}}"#
    for (text, type) in [("GO", "launch"), ("Go", "launch"), ("go", "launch"), ("gone", "background")] {
      #expect(try lines(fields, #"{"k": "\#(text)"}"#) == [#"{"type":"\#(type)"}"#])
    }
  }

  @Test func anIdThatNamesNobodyIsNone() throws {
    let fields = #"{"deviceId": ["a", "b"], "mobileUserId": "a", "name": "a"}"#
    #expect(
      try lines(fields, #"{"a": "0-0", "b": "d"}"#, #", "nobody": ["0-0"]"#) == [#"{"deviceId":"d","name":"0-0"}"#])
    #expect(try lines(fields, #"{"a": "0-0"}"#) == [#"{"deviceId":"0-0","mobileUserId":"0-0","name":"0-0"}"#])
    // Whatever is made of it.
    for (source, value) in [
      (#"{"path": "a", "without": "x:"}"#, #""x:none""#), (#"{"path": "a", "as": "lowercase"}"#, #""NONE""#),
      (#"{"path": "a", "table": {"-": "none"}}"#, #""-""#), (#"{"paths": ["a", "c"]}"#, #""none""#),
      (#""a""#, "0.0"),
    ] {
      #expect(
        try lines(
          #"{"deviceId": [\#(source), "b"]}"#, #"{"a": \#(value), "b": "d"}"#, #", "nobody": ["none", "0"]"#)
          == [#"{"deviceId":"d"}"#], "\(source)")
    }
  }

  @Test func aRecordIdThatNamesNothingIsNone() throws {
    let map = try read(#"{"fields": {"recordId": ["a", "b"]}}"#).map
    for id in ["null", "NULL", "undefined", #"\\N"#, "(null)", "  ", "00000000-0000-0000-0000-000000000000"] {
      #expect(outcomes(of: map, [#"{"a":"\#(id)","b":5.0}"#]) == [#"{"recordId":"5"}"#])
    }
  }
}
