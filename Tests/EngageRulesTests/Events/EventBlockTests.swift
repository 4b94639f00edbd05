import BatchFoundation
import BatchStore
import EngageRules
import StoreSupport
import TestSupport
import Testing

@Suite struct EventBlockTests {
  static let wire = """
    {"eventTypeCode":"17","eventTimestamp":"2026-01-01T00:00:00.007Z","attributes":[{"name":"Device Name","value":"iPhone"},\
    {"name":"Device Version","value":"iPhone7,2"},{"name":"OS Name","value":"iOS"},{"name":"OS Version","value":"8.1"},\
    {"name":"App Name","value":"App"},{"name":"App Version","value":"1.0"},{"name":"Device Id","value":"D\\"1"},\
    {"name":"Primary User Id","value":""},{"name":"Anonymous Id","value":""},{"name":"Recipient Id","value":"4711"},\
    {"name":"Event Name","value":"a/b\\n\\u0001\\u001f\\\\\u{7F}é"}]}
    """

  @Test func writesAnEventAsTheContractSays() throws {
    let fixtures = EventFixtures()
    let event = fixtures.event(
      1_767_225_600_007, device: "D\"1", recipient: "4711", name: "a/b\n\u{1}\u{1F}\\\u{7F}é")
    #expect(json(event) == Self.wire)
    let blocks = fixtures.blocks([event])
    #expect(try body(blocks.block(0)) == "{\"events\":[" + Self.wire + "]}")
    #expect(blocks.entries[0].bodyBytes == Self.wire.utf8.count + 13)
  }

  /// Values that begin with a digit are not numbered in a block, unless something in them is escaped.
  @Test func writesValuesLikeNumbersAsTheyAre() throws {
    let fixtures = EventFixtures()
    let events = (1...3).map { number in
      fixtures.event(
        1, code: "17", device: "D", emission: Int64(number), core: EventFixtures.core.map { "\($0.1)" },
        extra: [("Count", "1234"), ("Label", "12\"34"), ("Path", "5000\\n"), ("Price", "19.99")])
    }
    let blocks = fixtures.blocks(events)
    #expect(try body(blocks.block(0)) == "{\"events\":[" + events.map(json).joined(separator: ",") + "]}")
    #expect(blocks.entries[0].bodyBytes == events.map(json).joined(separator: ",").utf8.count + 13)
  }

  @Test func namesTheContactInTheHeaderIfItsIdIsANumber() throws {
    let fixtures = EventFixtures()
    let blocks = fixtures.blocks([
      fixtures.event(1, emission: 1, recipient: "4711"), fixtures.event(1, emission: 2, recipient: "0815"),
      fixtures.event(1, emission: 3, recipient: "x"), fixtures.event(1, emission: 4),
    ])
    let text = try body(blocks.block(0), contact: true)
    #expect(text.contains("\"eventTimestamp\":\"1970-01-01T00:00:00.001Z\",\"contactId\":4711,\"attributes\":["))
    #expect(text.split(separator: "contactId").count == 2)
  }

  @Test func anEventIsOfItsPhoneWhateverItsAttributeSays() throws {
    let fixtures = EventFixtures()
    var core = EventFixtures.core.map { "\($0.1)" }
    core[CoreAttribute.deviceId.rawValue] = "other"
    let events = (1...3).map { number in
      fixtures.event(1, code: "17", device: "D\"\(number / 2)", emission: Int64(number), core: core, extra: [])
    }
    let blocks = fixtures.blocks(events)
    #expect(try body(blocks.block(0)) == "{\"events\":[" + events.map(json).joined(separator: ",") + "]}")
    let reader = try EventBlockReader(blocks.block(0), .engage)
    var devices: [String] = []
    while try reader.next() { devices.append(reader.device.description) }
    #expect(devices == ["D\"0", "D\"1", "D\"1"])
  }

  @Test func keepsWhereEachEventWasRead() throws {
    let fixtures = EventFixtures()
    let sources = [
      StoredSource(file: 1, line: 7), StoredSource(file: 1, line: 3), StoredSource(file: 4_000_000_000, line: 1 << 40),
      .unknown, StoredSource(file: 1, line: 7), StoredSource(file: 1, line: 7),
    ]
    let events = sources.enumerated().map { index, source in
      var event = fixtures.event(1, emission: Int64(index))
      event.source = source
      return event
    }
    let blocks = fixtures.blocks(events, limits: RequestLimits(maxEvents: 4, maxBodyBytes: 100_000))
    var read: [StoredSource] = []
    let arena = Arena()
    for index in blocks.entries.indices {
      let reader = try EventBlockReader(blocks.block(index), .engage)
      while try reader.next() {
        #expect(reader.source == Event(reader, in: arena).source)
        read.append(reader.source)
      }
    }
    #expect(read == sources)
  }

  @Test(arguments: 1...200)
  func givesBackEveryEventByteForByte(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let fixtures = EventFixtures()
    let events = Self.randomEvents(&random, fixtures).sorted(by: Event.precedes)
    let limits = RequestLimits(
      maxEvents: Int.random(in: 1...40, using: &random), maxBodyBytes: Int.random(in: 500...9000, using: &random))
    let blocks = fixtures.blocks(events, limits: limits)
    var read: [String] = []
    var decoded: [String] = []
    for index in blocks.entries.indices {
      let entry = blocks.entries[index]
      let block = blocks.block(index)
      let text = try body(block)
      #expect(text.utf8.count == entry.bodyBytes)
      #expect(entry.events <= limits.maxEvents)
      #expect(entry.bodyBytes <= limits.maxBodyBytes || entry.events == 1)
      let reader = try EventBlockReader(block, .engage)
      let arena = Arena()
      var parts: [String] = []
      var expired = 0
      while try reader.next() {
        var buffer = ByteBuffer()
        reader.appendJSON(to: &buffer)
        parts.append(String(decoding: buffer.bytes, as: UTF8.self))
        let event = Event(reader, in: arena)
        decoded.append(json(event) + "|\(event.emission)|\(event.expired)|\(event.identityIsFixed)|\(event.device)")
        if event.expired { expired += 1 }
      }
      #expect(expired == entry.expired)
      #expect(Array(text.utf8) == Array(("{\"events\":[" + parts.joined(separator: ",") + "]}").utf8))
      read += parts
    }
    #expect(read.map { Array($0.utf8) } == events.map { Array(json($0).utf8) })
    #expect(
      decoded.map { Array($0.utf8) }
        == events.map {
          Array((json($0) + "|\($0.emission)|\($0.expired)|\($0.identityIsFixed)|\($0.device)").utf8)
        })
  }

  @Test(arguments: 1...50)
  func copiesEveryEventByteForByte(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let fixtures = EventFixtures()
    let events = Self.randomEvents(&random, fixtures).sorted(by: Event.precedes)
    let blocks = fixtures.blocks(events, limits: RequestLimits(maxEvents: 30, maxBodyBytes: 100_000))
    let limits = RequestLimits(maxEvents: Int.random(in: 1...40, using: &random), maxBodyBytes: 9000)
    // The copier outlives each block that it reads.
    let copier = EventBlockCopier(.engage, limits)
    for index in blocks.entries.indices {
      let reader = try WireForm.engage.reader(of: blocks.block(index))
      while try reader.next() { copier.append(reader) }
    }
    let copied = copier.finish()
    var read: [String] = []
    for (index, entry) in copied.entries.enumerated() {
      let block = copied.block(index)
      #expect(try body(block).utf8.count == entry.bodyBytes)
      let reader = try EventBlockReader(block, .engage)
      let arena = Arena()
      while try reader.next() {
        let event = Event(reader, in: arena)
        read.append(json(event) + "|\(event.emission)|\(event.expired)|\(event.identityIsFixed)|\(event.device)")
      }
    }
    #expect(
      read.map { Array($0.utf8) }
        == events.map {
          Array((json($0) + "|\($0.emission)|\($0.expired)|\($0.identityIsFixed)|\($0.device)").utf8)
        })
  }

  static func randomEvents(_ random: inout SplitMix64, _ fixtures: EventFixtures) -> [Event] {
    let devices = (0..<Int.random(in: 1...12, using: &random)).map { _ in text(&random) }
    return (0..<Int.random(in: 0...120, using: &random)).map { index in
      let device = devices[Int.random(in: 0..<devices.count, using: &random)]
      var core = (0..<10).map { _ in Bool.random(using: &random) ? "same" : text(&random) }
      core[6] = device
      let extra = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        (Bool.random(using: &random) ? "Event Name" : text(&random), text(&random))
      }
      return fixtures.event(
        Bool.random(using: &random) ? 253_402_300_799_999 : Int64.random(in: 0...100_000, using: &random),
        code: String(Int.random(in: 10...20, using: &random)), device: device, emission: Int64(index + 1), core: core,
        extra: extra, expired: Bool.random(using: &random), fixed: Bool.random(using: &random))
    }
  }

  /// Any Unicode text with a liking for what JSON escapes.
  static func text(_ random: inout SplitMix64) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...30, using: &random) {
      let range: ClosedRange<UInt32> =
        switch Int.random(in: 0...5, using: &random) {
        case 0: 1...0x1F
        case 1: 0x22...0x22
        case 2: 0x5C...0x5C
        case 3: 0x80...0xD7FF
        case 4: 0xE000...0x10FFFF
        default: 0x20...0x7F
        }
      if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) { text.append(scalar) }
    }
    return String(text)
  }

  @Test func survivesAnyDamage() throws {
    let fixtures = EventFixtures()
    let events = (1...30).map { fixtures.event(Int64($0) * 1000, device: "D\($0 % 5)", emission: Int64($0)) }
    let sound = fixtures.blocks(events).block(0)
    var random = SplitMix64(seed: 5)
    for _ in 0..<5000 {
      var block = sound
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        block[Int.random(in: 0..<block.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) { block.removeLast(Int.random(in: 0..<block.count, using: &random)) }
      do {
        _ = try body(block)
      } catch let error as StoreError {
        #expect(error == .damagedBlock)
      }
    }
  }

  @Test func anEventLargerThanABodyStandsAlone() throws {
    let fixtures = EventFixtures()
    let long = String(repeating: "x", count: 3000)
    let blocks = fixtures.blocks(
      [fixtures.event(1), fixtures.event(2, name: long), fixtures.event(3)],
      limits: RequestLimits(maxEvents: 100, maxBodyBytes: 1500))
    #expect(blocks.entries.map(\.events) == [1, 1, 1])
    #expect(blocks.entries.map(\.first.milliseconds) == [1, 2, 3])
    let many = fixtures.blocks(
      (1...4).map { fixtures.event($0, name: $0 == 4 ? "short" : long) },
      limits: RequestLimits(maxEvents: 100, maxBodyBytes: 1500))
    #expect(many.entries.map(\.events) == [1, 1, 1, 1])
    #expect(try many.entries.indices.map { try body(many.block($0)).utf8.count } == many.entries.map(\.bodyBytes))
  }

  @Test func givesLargeAndSmallOutputAlike() throws {
    let fixtures = EventFixtures()
    let long = String(repeating: "x\"", count: 1_000_000)
    let events = [[fixtures.event(1)], (1...3).map { fixtures.event($0, name: long) }, [fixtures.event(2)]]
    var encoder = EventBlockWriter(.engage, limits: .test())
    for part in events {
      let blocks = part.withUnsafeBufferPointer { encoder.encode($0) }
      let bodies = try blocks.entries.indices.map { Array(try body(blocks.block($0)).utf8) }
      #expect(bodies == part.map { Array(("{\"events\":[" + json($0) + "]}").utf8) })
    }
  }

  @Test func anIdentifierLeadsToTheTimeOfItsEvent() {
    let id = EventID(timestamp: Instant(milliseconds: 1_767_225_600_007), device: "D1", emission: 3)
    #expect(id.description == "019b76da-a807-8370-a82b-fc2e759d347e")
    #expect(EventID(id.description) == id)
    #expect(EventID(id.description.uppercased()) == id)
    #expect(id.timestamp == Instant(milliseconds: 1_767_225_600_007))
    #expect(id != EventID(timestamp: id.timestamp, device: "D1", emission: 4))
    #expect(EventID("019b76da-a807-4a09-b1b6-48b8f4cbf2ec") == nil)
    #expect(EventID("") == nil)
  }

  @Test("The outline of an event lacks its fields, and the shared texts of the same list")
  func outline() throws {
    let fixtures = EventFixtures()
    let event = fixtures.event(1_767_225_600_007, device: "D\"1", recipient: "4711", name: "a")
    let reader = try EventBlockReader(fixtures.blocks([event]).block(0), .engage)
    #expect(try reader.next())
    var outline = ByteBuffer()
    reader.appendOutline(to: &outline)
    #expect(
      String(decoding: outline.array, as: UTF8.self)
        == #"{"eventTypeCode":"17","eventTimestamp":"2026-01-01T00:00:00.007Z","#
        + #""attributes":[{"name":"Device Name","value":""}]}"#)
  }
}
