import BatchFoundation

/// A cache of what most events of the open block repeat: the values of a device, and the names of other attributes. An
/// event that has them in the same memory, or names that are equal, needs no look-up of each text. Every guess is
/// checked, so the block is the same with and without the cache.
@safe struct KnownAttributes: ~Copyable {
  struct Entry {
    /// The number of the identity or shape in the block.
    var number: Int
    /// The size of its texts in JSON.
    var size: Int
  }

  /// The values of an earlier event, whose memory lives until the block is written.
  @safe private struct Guess<Known> {
    var known: Known
    var entry: Entry
    var generation: UInt32
  }

  private static let places = 512
  private let identities = UnsafeMutablePointer<Guess<UnsafePointer<CoreTexts>?>>.allocate(capacity: places)
  private let shapes = UnsafeMutablePointer<Guess<UnsafeBufferPointer<Attribute>>>.allocate(capacity: places)
  private var generation: UInt32 = 1

  init() { forget() }

  deinit {
    unsafe identities.deallocate()
    unsafe shapes.deallocate()
  }

  private func forget() {
    let nothing = Entry(number: 0, size: 0)
    unsafe identities.initialize(repeating: Guess(known: nil, entry: nothing, generation: 0), count: Self.places)
    unsafe shapes.initialize(
      repeating: Guess(known: UnsafeBufferPointer(start: nil, count: 0), entry: nothing, generation: 0),
      count: Self.places)
  }

  mutating func removeAll() {
    generation &+= 1
    guard generation == 0 else { return }
    forget()
    generation = 1
  }

  /// Returns nil unless the core values are in the same memory as those of the device's last event.
  @inline(__always)
  func identity(_ core: UnsafePointer<CoreTexts>) -> Entry? {
    let guess = unsafe identities + identityPlace(core)
    guard unsafe guess.pointee.generation == generation, let known = unsafe guess.pointee.known,
      unsafe known == core || known.pointee.isSameMemory(as: core.pointee)
    else { return nil }
    return unsafe guess.pointee.entry
  }

  @inline(__always)
  func note(identity: Entry, of core: UnsafePointer<CoreTexts>) {
    unsafe identities[identityPlace(core)] = unsafe Guess(known: core, entry: identity, generation: generation)
  }

  /// Returns nil unless the names equal those of the last such event; `event` is the number of the event's code.
  @inline(__always)
  func shape(of attributes: UnsafeBufferPointer<Attribute>, event: Int) -> Entry? {
    let guess = unsafe shapes + shapePlace(attributes, event)
    guard unsafe guess.pointee.generation == generation, unsafe guess.pointee.known.count == attributes.count
    else { return nil }
    let known = unsafe guess.pointee.known
    for index in attributes.indices {
      guard unsafe known[index].name == attributes[index].name else { return nil }
    }
    return unsafe guess.pointee.entry
  }

  @inline(__always)
  func note(shape: Entry, of attributes: UnsafeBufferPointer<Attribute>, event: Int) {
    unsafe shapes[shapePlace(attributes, event)] = unsafe Guess(
      known: attributes, entry: shape, generation: generation)
  }

  @inline(__always)
  private func identityPlace(_ core: UnsafePointer<CoreTexts>) -> Int {
    let address = unsafe UInt(bitPattern: core.pointee[.deviceId].base)
    return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> 48) & (Self.places - 1)
  }

  @inline(__always)
  private func shapePlace(_ attributes: UnsafeBufferPointer<Attribute>, _ event: Int) -> Int {
    // Events of one code with equally many other names are of different kinds; their first name distinguishes them.
    let first = unsafe attributes.first.map { unsafe $0.name.count &+ Int($0.name.bytes.last ?? 0) } ?? 0
    return (event &* 31 &+ attributes.count &* 7 &+ first) & (Self.places - 1)
  }
}
