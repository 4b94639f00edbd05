import BatchFoundation
import TestSupport

/// Recorded exports made from a seed: devices with and without lifecycle records, identities, campaigns, links, places, repeated
/// and damaged lines, text of several scripts, and times in all spellings.
struct Recording {
  /// A line with its time, which says where an export can be cut.
  struct Line: Sendable {
    enum Kind: String, Sendable, CaseIterable { case events, notifications, deepLinks }
    var kind: Kind
    var milliseconds: Int64
    var text: String
  }

  static let start: Int64 = 1_768_435_200_000  // 2026-01-15T00:00:00Z

  private(set) var lines: [Line] = []
  private var random: SplitMix64

  init(seed: UInt64, devices: Int, perDevice: Int) {
    random = SplitMix64(seed: seed)
    for device in 0..<devices { add(device, records: perDevice) }
  }

  private static let names = ["SCREEN VIEW", "müde 🐈", "İstanbul", "a\\\"b\\\\c", "\\u0007bell", "e\\u0301"]
  private static let texts = ["spring", "Grüße/𝛑", "", "x y", "line\\nbreak"]

  private mutating func add(_ device: Int, records: Int) {
    let hasLifecycle = device % 3 != 0
    let id = "D-\(device % 7 == 0 ? "ß" : "")\(device)"
    var time = Self.start + Int64(random.below(3_600_000))
    // Whether a device has places at all decides whether its events wait for one (reference decisions 20), so they come first.
    let hasPlaces = device % 4 != 1
    if hasPlaces {
      let common = "{\"deviceId\":\"\(id)\",\"timestamp\":\(time),"
      for rest in [
        "\"type\":\"location\",\"latitude\":50.9,\"longitude\":6.95}", "\"type\":\"placemark\",\"name\":\"Dom\"}",
      ] {
        lines.append(Line(kind: .events, milliseconds: time, text: common + rest))
      }
    }
    for number in 0..<records {
      time += Int64(random.below(number % 5 == 4 ? 5_400_000 : 120_000)) + 1
      let common = "\"deviceId\":\"\(id)\",\"timestamp\":\(spelled(time))"
      append(device, number, common, time, hasLifecycle, hasPlaces)
    }
  }

  private mutating func append(
    _ device: Int, _ number: Int, _ common: String, _ time: Int64, _ hasLifecycle: Bool, _ hasPlaces: Bool
  ) {
    let name = Self.names[random.below(Self.names.count)]
    let text = Self.texts[random.below(Self.texts.count)]
    var kind = Line.Kind.events
    var rest: String
    switch random.below(hasLifecycle ? 16 : 12) {
    case 0: rest = "\"type\":\"goalCompleted\",\"name\":\"\(name)\",\"params\":{\"value\":\(random.below(1000)).5}"
    case 1: rest = "\"type\":\"custom\",\"eventTypeCode\":\(90 + random.below(9)),\"params\":{\"z\":true,\"a\":null}"
    case 2 where hasPlaces:
      rest = "\"type\":\"location\",\"latitude\":\(random.below(90)).125,\"longitude\":-\(random.below(180)).25"
    case 3 where hasPlaces:
      rest = "\"type\":\"placemark\",\"name\":\"\(text)\",\"city\":\"Köln\",\"country\":\"Germany\""
    case 4:
      kind = .notifications
      rest =
        "\"action\":\"\(random.below(2) == 0 ? "received" : "opened")\",\"payload\":{\"aps\":{\"alert\":\"\(text)\"},"
        + "\"CurrentCampaign\":\"c\(random.below(9))\",\"CampaignValidFor\":\"\(random.below(50) + 1) minutes\"}"
    case 5:
      kind = .deepLinks
      rest = "\"url\":\"player://test/\(random.below(9))?CurrentCampaign=l\(random.below(4))&x=%C3%BC\""
    case 6: rest = "\"type\":\"setMobileUserId\",\"mobileUserId\":\"M-\(device)-\(random.below(2))\""
    case 7: rest = "\"type\":\"namedEvent\",\"name\":\"\(name)\",\"device\":{\"name\":\"P\(random.below(3))\"}"
    case 8: rest = "\"type\":\"namedEvent\",\"name\":\"\(name)\",\"recipientId\":\"9\(random.below(99))\""
    case 9: rest = "\"type\":\"unheardOf\""
    case 12: rest = "\"type\":\"launch\",\"device\":{\"osName\":\"iOS\",\"appVersion\":\"5.\(random.below(3))\"}"
    case 13: rest = "\"type\":\"foreground\""
    case 14: rest = "\"type\":\"background\""
    case 15: rest = "\"type\":\"terminate\""
    default:
      rest = "\"type\":\"namedEvent\",\"name\":\"\(name)\",\"params\":{\"Tags\":[\"a\",\"\(text)\"],\"n\":\(number)}"
    }
    rest = "{\(common),\(rest)}"
    if random.below(60) == 0 { rest.removeLast() }
    lines.append(Line(kind: kind, milliseconds: time, text: rest))
    if random.below(25) == 0 { lines.append(Line(kind: kind, milliseconds: time, text: rest + " ")) }
  }

  /// The same instant in one of the spellings that a record may have.
  private mutating func spelled(_ time: Int64) -> String {
    switch random.below(4) {
    case 0: "\(time)"
    case 1: "\(time / 1000).\(String(time % 1000 + 1000).dropFirst())"
    case 2: "\"\(Self.clock(time, separator: "T"))Z\""
    default: "\"\(Self.clock(time, separator: " "))\""
    }
  }

  /// Wall clock of January 2026, in which all times of a recording lie.
  private static func clock(_ time: Int64, separator: String) -> String {
    let seconds = (time - start) / 1000
    func two(_ value: Int64) -> String { String(value + 100).suffix(2).description }
    let day = two(15 + seconds / 86_400)
    return "2026-01-\(day)\(separator)\(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
      + ".\(String(time % 1000 + 1000).dropFirst())"
  }

  // MARK: - Files

  /// Spreads lines over files of their kind, in an order of its own.
  static func files(_ lines: [Line], seed: UInt64, count: Int) -> [(name: String, text: String)] {
    var random = SplitMix64(seed: seed)
    var files: [String: String] = [:]
    var lines = lines
    for index in lines.indices.reversed() { lines.swapAt(index, random.below(index + 1)) }
    for line in lines {
      files["\(line.kind.rawValue)/\(random.below(count)).ndjson", default: ""] += line.text + "\n"
    }
    return files.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
