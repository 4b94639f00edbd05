import BatchFoundation
import Testing

@testable import EngageRules

/// States as bytes: back to the same state, and no harm from bytes that are none.
@Suite struct DeviceStateCodingTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func readsBackWhatItWrote(seed: UInt64) throws {
    let fixture = Fixture()
    var numbers = SplitMix64(seed: seed)
    let state = RandomState(fixture.arena).state(&numbers)
    let bytes = state.encoded()
    let again = try fixture.reloaded(state)
    #expect(again.encoded() == bytes)
    #expect(again.summary == state.summary)
    #expect(again.dueAt == state.dueAt)
    #expect(again.heldCount == state.heldCount)
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func damagedBytesAreRefusedOrHarmless(seed: UInt64) throws {
    let fixture = Fixture()
    fixture.settings.augmentation.plugins = [CoordinatesPlugin(), PlacemarkPlugin.address(isSynchronous: true)]
    var numbers = SplitMix64(seed: seed)
    let whole = RandomState(fixture.arena).state(&numbers).encoded()
    for _ in 0..<20 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        bytes[Int.random(in: 1..<bytes.count, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
      }
      if Bool.random(using: &numbers) { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &numbers)) }
      let kept = bytes.withUnsafeBufferPointer { fixture.arena.copy($0) }
      do {
        let state = try DeviceState(decoding: UnsafeRawBufferPointer(kept.bytes))
        // A state that was read must carry any run.
        try fixture.lifecycle(.launch, "00:00:00")
        try fixture.named("00:00:01", id: "u-1")
        try fixture.lifecycle(.background, "00:00:02")
        _ = try fixture.run(asOf: "2027-01-01T00:00:00Z", state: state).rules.state.encoded()
        _ = state.summary
      } catch is DeviceStateError {
        continue
      }
    }
  }

  @Test func everyShorterPieceIsRefused() throws {
    let fixture = Fixture()
    var numbers = SplitMix64(seed: 7)
    let bytes = RandomState(fixture.arena).state(&numbers).encoded()
    for count in 0..<bytes.count {
      let piece = fixture.arena.copy(
        Array(bytes.prefix(count)).withUnsafeBufferPointer { fixture.arena.copy($0).bytes })
      #expect(throws: DeviceStateError.self) { try DeviceState(decoding: UnsafeRawBufferPointer(piece.bytes)) }
    }
  }

  @Test func anotherFormatIsNamed() throws {
    let bytes: [UInt8] = [200, 0, 0]
    #expect(throws: DeviceStateError(version: 200)) {
      try bytes.withUnsafeBytes { _ = try DeviceState(decoding: $0) }
    }
  }
}

/// States with every part in every form.
private struct RandomState {
  let arena: Arena

  init(_ arena: Arena) { self.arena = arena }

  func state(_ numbers: inout SplitMix64) -> DeviceState {
    var state = DeviceState(device: "d-1")
    state.core = core(&numbers)
    state.mobileUserIdIsAutomatic = .random(using: &numbers)
    state.hasLifecycle = .random(using: &numbers)
    state.installed = .random(using: &numbers)
    switch Int.random(in: 0...2, using: &numbers) {
    case 0: state.session = .none
    case 1: state.session = .active(segmentStart: instant(&numbers), accumulated: Milliseconds(77))
    default:
      state.session = .paused(pause(&numbers))
      state.pausedCore = core(&numbers)
    }
    for _ in 0..<Int.random(in: 0...4, using: &numbers) {
      switch Int.random(in: 0...3, using: &numbers) {
      case 0: state.heldSessionEvents.append(.installed(source: source(&numbers)))
      case 1: state.heldSessionEvents.append(.started(at: instant(&numbers), link: nil, source: source(&numbers)))
      case 2:
        state.heldSessionEvents.append(
          .started(at: instant(&numbers), link: attributes(&numbers), source: source(&numbers)))
      default: state.heldSessionEvents.append(.ended(pause(&numbers), core: core(&numbers)))
      }
    }
    if Bool.random(using: &numbers) {
      state.campaign = Campaign(
        name: text(&numbers), expiresAt: instant(&numbers), expiryWasSeen: .random(using: &numbers))
    }
    if Bool.random(using: &numbers) { state.lastSeen = instant(&numbers) }
    state.emission = Int64.random(in: 0...1_000_000_000, using: &numbers)
    for _ in 0..<Int.random(in: 0...3, using: &numbers) {
      state.samples.coordinates.append(
        LocationSamples.Coordinates(
          at: instant(&numbers), latitude: .random(in: -90...90, using: &numbers), longitude: -0.0))
      state.samples.places.append(
        LocationSamples.Place(at: instant(&numbers), address: text(&numbers), name: nil))
    }
    for _ in 0..<Int.random(in: 0...2, using: &numbers) {
      var draft = EventDraft(code: text(&numbers), timestamp: instant(&numbers), core: core(&numbers))
      draft.others = attributes(&numbers)
      draft.identityIsFixed = .random(using: &numbers)
      draft.source = source(&numbers)
      state.held.append(HeldEvent(draft: draft, emission: 5, deadline: instant(&numbers)))
    }
    return state
  }

  private func instant(_ numbers: inout SplitMix64) -> Instant {
    Instant(milliseconds: Int64.random(in: 0...Instant.last.milliseconds, using: &numbers))
  }

  private func text(_ numbers: inout SplitMix64) -> Text {
    arena.text(
      ["", "u-1", "caf\u{E9}", "cafe\u{301}", String(repeating: "long ", count: 60)].randomElement(using: &numbers)
        ?? "")
  }

  private func core(_ numbers: inout SplitMix64) -> CoreTexts {
    var core = CoreTexts()
    for slot in CoreAttribute.allCases where Bool.random(using: &numbers) { core[slot] = text(&numbers) }
    return core
  }

  private func attributes(_ numbers: inout SplitMix64) -> [Attribute] {
    (0..<Int.random(in: 0...3, using: &numbers)).map { _ in Attribute(text(&numbers), text(&numbers)) }
  }

  private func pause(_ numbers: inout SplitMix64) -> SessionPause {
    var pause = SessionPause(
      at: instant(&numbers), segmentStart: instant(&numbers), accumulatedBefore: Milliseconds(1),
      accumulated: Milliseconds(Int64.random(in: 0...9_999_999, using: &numbers)), expiresAt: instant(&numbers),
      campaign: text(&numbers))
    pause.source = source(&numbers)
    return pause
  }

  private func source(_ numbers: inout SplitMix64) -> StoredSource {
    StoredSource(file: .random(in: 0...UInt32.max, using: &numbers), line: .random(in: 0...1 << 40, using: &numbers))
  }
}
