import BatchConfiguration
import BatchFoundation
import BatchIngest
import BatchStore
import Games
import TestSupport

@testable import GameRules

/// Lines of one export through decoder and rules, as a run takes them, without files and store.
final class Replay {
  /// A record as it is kept between decoder and rules.
  private struct Kept {
    var device: String
    var head: RecordHead
    var kind: InputKind
    var line: UInt64
    var payload: UnsafeRawPointer
  }

  private let arena = Arena()
  private var kept: [Kept] = []
  private var seen: Set<LineDigest> = []
  private let decoder = GameLineDecoder()
  private(set) var rejections: [String] = []
  private(set) var duplicates = 0

  var settings: GameSettings
  var configuration: SessionConfiguration?

  init(_ lines: [String] = [], kind: InputKind = .events) {
    settings = GameSettings(.defaults, in: arena)
    add(lines, kind: kind)
  }

  func add(_ lines: [String], kind: InputKind = .events) {
    var reader = JSONReader()
    for (number, line) in lines.enumerated() {
      let text = arena.text(line)
      var tape = JSONTape()
      guard (try? reader.read(text.bytes, onto: &tape)) != nil else {
        rejections.append("invalid-json")
        continue
      }
      let source = SourceLine(
        text: text, kind: kind, position: RecordPosition(file: 0, line: UInt64(number + 1)))
      var head = RecordHead()
      if let rejection = decoder.decode(tape.view(at: 0), of: source, into: &head) {
        rejections.append(rejection.reason.rawValue)
        continue
      }
      guard seen.insert(head.identity ?? LineDigest(line: text, kind: kind)).inserted else {
        duplicates += 1
        continue
      }
      let memory = arena.allocate(decoder.payloadBound)
      _ = decoder.writePayload(at: memory)
      head.device = arena.copy(head.device.bytes)
      kept.append(
        Kept(device: head.device.description, head: head, kind: kind, line: UInt64(number + 1), payload: memory))
    }
  }

  struct Result {
    var lines: [String] = []
    var events: [(name: String, line: String)] = []
    var engagements: [Engagement] = []
    var counts = GameCounts()
    var sessionsStarted = 0
    var sessionsEnded = 0
    /// Of sessions that are over by the end of each run.
    var sessionSeconds: [Int64] = []
    var warnings: [String] = []
    var explanation: [ExplanationStep] = []
    /// All events in one block after the other, as the store keeps them.
    var bodies: [String] = []

    var names: [String] { events.map(\.name) }
  }

  /// - Parameters:
  ///   - cuts: instants at which one run ends and the next, over the encoded states of the one before, begins.
  ///   - knownUntil: the end of the known time.
  func run(cuts: [Instant] = [], knownUntil: Instant = .last, explains: Bool = false) throws -> Result {
    kept.sort {
      if $0.head.timestamp != $1.head.timestamp { return $0.head.timestamp < $1.head.timestamp }
      return $0.kind != $1.kind ? $0.kind < $1.kind : $0.line < $1.line
    }
    var result = Result()
    var events: [GameEvent] = []
    var states: [String: [UInt8]] = [:]
    for (index, end) in (cuts + [Instant.last + Milliseconds(1)]).enumerated() {
      let start = index == 0 ? Instant(milliseconds: 0) : cuts[index - 1]
      var rules = GameRules(settings: settings, configuration: configuration, arena: arena)
      for device in Set(kept.map(\.device)).sorted() {
        let records = kept.filter { $0.device == device && $0.head.timestamp >= start && $0.head.timestamp < end }
        if records.isEmpty { continue }
        let earlier = try states[device].map { try state($0) }
        rules.begin(arena.text(device), earlier)
        if explains { rules.explanation = Explanation() }
        for record in records {
          rules.record = self.record(record)
          rules.process()
        }
        rules.finish(knownUntil: min(end, knownUntil))
        states[device] = rules.state.encoded()
        result.explanation += rules.explanation?.steps ?? []
      }
      rules.makeIDs()
      events += rules.output.events
      result.engagements += rules.output.engagements
      result.warnings += rules.output.warnings.map(\.kind.name)
      result.counts += rules.output.counts
      result.sessionsStarted += rules.output.sessionStarts.count
      result.sessionsEnded += rules.output.sessionEnds.count
      result.sessionSeconds += rules.output.sessionLengths.map(\.wholeSeconds)
    }
    events.sort(by: GameEvent.precedes)
    result.engagements.sort { $0.timestamp != $1.timestamp ? $0.timestamp < $1.timestamp : $0.device < $1.device }
    for event in events {
      result.lines.append(String(decoding: try event.json, as: UTF8.self))
      result.events.append((event.name.description, result.lines[result.lines.count - 1]))
    }
    result.bodies = try bodies(events)
    return result
  }

  private func bodies(_ events: [GameEvent]) throws -> [String] {
    var encoder = EventBlockWriter(.game, limits: .init(maxEvents: 7, maxBodyBytes: 100_000))
    let blocks = events.withUnsafeBufferPointer { encoder.encode($0) }
    return try blocks.entries.indices.map { index in
      var body = ByteBuffer()
      try blocks.block(index).withUnsafeBufferPointer { try WireForm.game.appendBody(of: $0, version: 0, to: &body) }
      return String(decoding: body.bytes, as: UTF8.self)
    }
  }

  private func state(_ bytes: [UInt8]) throws -> GameState {
    let copy = bytes.withUnsafeBufferPointer { arena.copy($0) }
    return try GameState(decoding: UnsafeRawBufferPointer(copy.bytes))
  }

  private func record(_ kept: Kept) -> GameRecord {
    var record = GameRecord()
    record.device = kept.head.device
    record.timestamp = kept.head.timestamp
    record.type = GameRecordType(rawValue: kept.head.type) ?? .launch
    record.kind = kept.kind
    record.position = RecordPosition(file: 0, line: kept.line)
    record.unpack(kept.payload)
    return record
  }
}

extension GameCounts {
  static func += (total: inout GameCounts, part: GameCounts) {
    total.optedOut += part.optedOut
    total.consentDenied += part.consentDenied
    total.notWhitelisted += part.notWhitelisted
    total.triggered += part.triggered
    total.ignored.merge(part.ignored, uniquingKeysWith: +)
  }
}
