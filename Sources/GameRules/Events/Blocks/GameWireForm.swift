package import BatchFoundation
package import BatchStore

extension WireForm {
  /// The layout of events for Collect (reference deltadna 5). All events in a block have the same consent, which is the
  /// block's group.
  package static let game = WireForm(
    body: ("{\"eventList\":[", "]}"),
    pieces: [
      .text("{\"eventName\":\""), .type, .text("\""), .shared, .text(",\"eventUUID\":"), .lead,
      .text(",\"eventTimestamp\":\""), .spacedTimestamp, .text("\",\"eventParams\":{"), .fields, .text("}}"),
    ],
    shared: [
      Shared("", isHidden: true), Shared(",\"userID\":\"", after: "\""),
      Shared(",\"sessionID\":\"", after: "\"", omitsEmpty: true),
    ],
    names: ("\"", ",\"", "\":"), valuesAreViews: true)
}

extension EventBlockWriter {
  /// Encodes events sorted by ``GameEvent/precedes(_:_:)``.
  package mutating func encode(_ sorted: UnsafeBufferPointer<GameEvent>) -> EventBlocks { unsafe encode(sorted) { $0 } }

  /// Encodes events in an order other than their order in memory, without moving them.
  ///
  /// - Parameter place: returns the index of the event at a position in the order of ``GameEvent/precedes(_:_:)``.
  package mutating func encode(_ made: UnsafeBufferPointer<GameEvent>, place: (Int) -> Int) -> EventBlocks {
    var fields: [Attribute] = []
    for number in 0..<made.count {
      let event = unsafe made[place(number)]
      fields.removeAll(keepingCapacity: true)
      var members = event.parameters.members
      while let (name, value) = members.next() {
        unsafe fields.append(
          Attribute(name, Text(base: value.start.assumingMemoryBound(to: UInt8.self), count: value.size)))
      }
      let lead: EventHead.Lead =
        switch event.eventUUID {
        case .key(let id): .uuid(id)
        case .text(let text): .text(text)
        }
      let head = EventHead(
        type: event.name, timestamp: event.timestamp, device: event.device, emission: event.emission,
        source: event.source, flags: event.isStored ? .isFixed : .init(rawValue: 0), group: event.consent.rawValue,
        lead: lead)
      let shared: InlineArray<3, Text> = [event.device, event.userID, event.sessionID]
      unsafe shared.span.withUnsafeBufferPointer { shared in
        unsafe fields.withUnsafeBufferPointer { unsafe append(head, shared: shared, fields: $0) }
      }
    }
    return take()
  }

  /// Encodes one event as a separate block.
  package mutating func encode(_ event: GameEvent) -> [UInt8] {
    unsafe withUnsafePointer(to: event) { unsafe encode(UnsafeBufferPointer(start: $0, count: 1)).bytes }
  }
}

extension GameEvent {
  /// Copies a reader's current event into the arena.
  ///
  /// - Throws: ``StoreError/damagedBlock`` if the parameters are not valid JSON.
  package init(_ event: EventBlockReader, in arena: Arena) throws {
    var json = ByteBuffer()
    json.append("{")
    event.appendFields(to: &json)
    json.append("}")
    var reader = JSONReader()
    var tape = JSONTape()
    do { _ = try unsafe reader.read(json.bytes, onto: &tape) } catch { throw StoreError.damagedBlock }
    let uuid: EventUUID =
      switch event.lead {
      case .uuid(let id): .key(id)
      case .none: .text(.empty)
      case .text(let text), .raw(let text): .text(event.unescaped(text.slice(1, text.count - 1)))
      }
    self = GameEvent(
      name: event.type, userID: event.shared(1), sessionID: event.shared(2), eventUUID: uuid,
      parameters: tape.view(at: 0), timestamp: event.timestamp, device: event.device, emission: event.emission,
      consent: PIPLConsent(rawValue: event.group), isStored: event.flags.contains(.isFixed), source: event.source
    ).copied(to: arena)
  }

  /// The size of the event on the wire, in bytes.
  package var byteCount: Int {
    let form = WireForm.game
    // `frame` includes the separator between events and the braces of the parameters.
    return form.frame - 1 + CanonicalJSON.escapedCount(name)
      + form.size(ofShared: 1, escaped: CanonicalJSON.escapedCount(userID))
      + form.size(ofShared: 2, escaped: CanonicalJSON.escapedCount(sessionID)) + eventUUID.escapedCount + 2
      + CanonicalJSON.count(parameters) - 2
  }

  /// A cheap upper bound for ``byteCount``: JSON expands each byte of a string or of a value's view to at most six.
  package var byteBound: Int {
    WireForm.game.frame + 64 + 6 * (name.count + userID.count + sessionID.count + eventUUID.count + parameters.size)
  }
}
