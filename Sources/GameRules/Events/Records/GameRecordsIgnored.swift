package import BatchFoundation
package import BatchIngest

/// A vocabulary that adds records of games to that of another platform: they are checked as in a deltaDNA job, and
/// ignored except for device and user (reference deltadna 2).
package struct GameRecordsIgnored: RecordVocabulary {
  private let base: any RecordVocabulary

  package init(in base: any RecordVocabulary) { self.base = base }

  package func makeDecoder() -> any LineDecoder { GameIgnoringDecoder(base.makeDecoder()) }

  package func device(_ line: SourceLine) -> Text? { base.device(line) }

  package var dictionary: FieldDictionary { base.dictionary }

  package func copySample(_ payload: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int {
    unsafe base.copySample(payload, to: target)
  }

  package func ignoredName(_ type: UInt8) -> String {
    GameRecordType(rawValue: type - 1)?.name ?? base.ignoredName(type)
  }
}

private final class GameIgnoringDecoder: LineDecoder {
  private let base: any LineDecoder
  private let game = GameLineDecoder()
  private var memory = ScratchMemory()

  init(_ base: any LineDecoder) { self.base = base }

  var unknownFields: UnknownFields { base.unknownFields }
  var payloadBound: Int { base.payloadBound }

  func writePayload(at start: UnsafeMutableRawPointer) -> Int { unsafe base.writePayload(at: start) }

  func prepare(_ lines: [BlockLine]) { base.prepare(lines) }

  func decode(_ link: PlainLink, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    head.ignoredType = 0
    return base.decode(link, of: line, into: &head)
  }

  func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection? {
    head.ignoredType = 0
    guard let rejection = base.decode(object, of: line, into: &head) else { return nil }
    guard line.kind == .events, Self.isOfGames(object) else { return rejection }
    if let fault = game.decode(object, of: line, into: &head) { return fault }
    let identity = head.identity
    let fault = base.decode(silent(object, head), of: line, into: &head)
    head.identity = identity
    head.ignoredType = game.record.type.rawValue + 1
    return fault
  }

  private static func isOfGames(_ object: JSONView) -> Bool {
    func present(_ key: Text) -> JSONView? { object[key].flatMap { $0.isNull ? nil : $0 } }
    guard let type = present("type") else { return present("eventName") != nil && present("eventParams") != nil }
    return type.string.flatMap { GameRecordType(exportName: $0) }.map { !$0.isOfEngage } ?? false
  }

  /// Returns a record of the same time that names device and user, and does nothing.
  private func silent(_ object: JSONView, _ head: RecordHead) -> JSONView {
    var writer = unsafe ViewWriter(at: memory.reserve(object.size + head.device.count + 128))
    let place = unsafe writer.begin(.object)
    writer.member("type", "setMobileUserId")
    writer.member("deviceId", head.device)
    writer.key("timestamp")
    var time = String(head.timestamp.milliseconds)
    if head.timestamp.milliseconds < 100_000_000_000 {
      // Small numbers are seconds.
      let rest = String(head.timestamp.milliseconds % 1000)
      time = "\(head.timestamp.milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.utf8.count))\(rest)"
    }
    Array(time.utf8).withText { writer.number($0) }
    var hasUser = false
    if game.record.type != .storedEvent {
      for name: Text in ["device", "mobileUserId", "anonymousId", "recipientId"] {
        guard let value = object[name], !value.isNull else { continue }
        if name == "mobileUserId" { hasUser = true }
        writer.key(name)
        writer.copy(value)
      }
    }
    if !hasUser {
      // An empty one replaces nothing.
      writer.member("mobileUserId", .empty)
    }
    unsafe writer.end(place)
    return unsafe JSONView(at: memory.start)
  }
}
