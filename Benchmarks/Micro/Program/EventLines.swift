import BatchFoundation

/// Lines of an export in memory, like those of `Benchmarks/generate.py` and the same on every machine.
struct EventLines {
  private(set) var bytes: [UInt8] = []
  private(set) var ranges: [Range<Int>] = []

  private static let start = Instant(milliseconds: 1_767_225_600_000)

  /// Line for line in the order of time, with the white space between them left out.
  func forEach(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) rethrows {
    try unsafe bytes.withUnsafeBufferPointer { all in
      for range in ranges { try unsafe body(UnsafeBufferPointer(rebasing: all[range])) }
    }
  }

  private mutating func append(_ line: String) {
    let start = bytes.count
    bytes += line.utf8
    ranges.append(start..<bytes.count)
    bytes.append(0x0A)
  }

  /// Events of all usual kinds from some devices, 330 bytes a line.
  static func typical(_ count: Int, devices: Int) -> EventLines {
    var lines = EventLines()
    var phones = Phones(devices)
    for index in 0..<count {
      let instant = start + Milliseconds(Int64(index) * 61_803)
      lines.append(phones.record(at: instant) { phones in phones.event(at: instant) })
    }
    return lines
  }

  /// 48 levels of objects and arrays in each event.
  static func deep(_ count: Int) -> EventLines {
    var lines = EventLines()
    var phones = Phones(1)
    for index in 0..<count {
      var tree = "\(index % 10)"
      for level in 0..<48 { tree = level % 2 == 0 ? "[\(tree),\(level)]" : "{\"l\(level)\":\(tree)}" }
      let instant = start + Milliseconds(Int64(index) * 1000)
      lines.append(
        phones.record(at: instant) { _ in
          "\"type\":\"namedEvent\",\"name\":\"item viewed\",\"params\":{\"screen\":\"Home\",\"tree\":\(tree)}"
        })
    }
    return lines
  }

  /// Each event has a text of about that many bytes, with an escape every few words.
  static func long(_ count: Int, textBytes: Int) -> EventLines {
    var lines = EventLines()
    var phones = Phones(1)
    for index in 0..<count {
      let text = phones.prose(textBytes)
      lines.append(
        phones.record(at: start + Milliseconds(Int64(index) * 1000)) { _ in
          "\"type\":\"namedEvent\",\"name\":\"item viewed\",\"params\":{\"text\":\"\(text)\"}"
        })
    }
    return lines
  }
}

/// Devices that report what is drawn for them.
private struct Phones {
  private struct Phone {
    var ids: String
    var device: String
  }

  private var random = SplitMix64(seed: 1)
  private var phones: [Phone] = []

  private static let screens = ["Home", "Catalogue", "Basket", "Account", "Search", "Détails", "検索"]
  private static let named = ["item viewed", "item added", "checkout begun", "search made", "video played"]
  private static let goals = ["first purchase", "newsletter", "profile complete"]
  private static let lives = ["2 days", "90minutes", "1 day 4h"]
  private static let words = [
    "lorem", "ipsum", "dolor", "sit", "amet", "\\\"consectetur\\\"", "adipiscing", "elit\\n", "sed", "déjà", "eiusmod",
    "tempor", "\\\\", "東京",
  ]

  init(_ count: Int) {
    for number in 0..<count {
      let id = String(random.next() | 1 << 63, radix: 16, uppercase: true)
      let system = pick(["iOS", "Android"])
      phones.append(
        Phone(
          ids: "\"deviceId\":\"\(id)-\(number)\",\"mobileUserId\":\"user-\(number)\"",
          device: """
            {"name":"Phone","version":"15,\(below(4))","osName":"\(system)",\
            "osVersion":"\(pick(["15", "16.4", "17.2", "18.1"]))","appName":"Shop",\
            "appVersion":"\(pick(["7.0.1", "7.1.0", "8.0"]))"}
            """))
    }
  }

  private mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

  private mutating func pick(_ choices: [String]) -> String { choices[below(choices.count)] }

  mutating func record(at instant: Instant, _ event: (inout Phones) -> String) -> String {
    let phone = phones[below(phones.count)]
    return "{\(phone.ids),\"timestamp\":\"\(instant.rfc3339)\",\(event(&self)),\"device\":\(phone.device)}"
  }

  /// In the shares of an app that is used: most are named events, a few are pushes and links.
  mutating func event(at instant: Instant) -> String {
    switch below(100) {
    case 0..<70:
      """
      "type":"namedEvent","name":"\(pick(Self.named))","params":{"screen":"\(pick(Self.screens))",\
      "position":\(below(10_000)),"amount":\(below(200)).\(below(9) + 1),"tags":["sale","\(pick(Self.screens))"]}
      """
    case 70..<79: "\"type\":\"goalCompleted\",\"name\":\"\(pick(Self.goals))\",\"params\":{\"step\":\(below(9))}"
    case 79..<82: "\"type\":\"goalAbandoned\",\"name\":\"\(pick(Self.goals))\",\"params\":{\"step\":\(below(9))}"
    case 82..<88:
      """
      "type":"pushReceived","payload":{"aps":{"alert":{"title":"News","body":"Ends “soon”"},"badge":\(below(10))},\
      "CurrentCampaign":"spring-\(below(150))","CampaignValidFor":"\(pick(Self.lives))"}
      """
    case 88..<91:
      """
      "type":"notificationOpened","payload":{"aps":{"alert":"News"},"data":{"CurrentCampaign":"spring-\(below(150))"}}
      """
    case 91..<94:
      """
      "type":"deepLink","url":"player://item/\(below(100_000))?CurrentCampaign=spring-\(below(150))\
      &CampaignEndTimeStamp=\(instant.milliseconds / 1000 + 172_800)"
      """
    case 94..<97: "\"type\":\"foreground\""
    default: "\"type\":\"background\""
    }
  }

  mutating func prose(_ size: Int) -> String {
    var text = ""
    while text.utf8.count < size {
      text += pick(Self.words)
      text += " "
    }
    return text
  }
}
