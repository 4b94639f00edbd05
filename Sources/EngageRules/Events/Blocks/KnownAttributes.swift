import BatchFoundation

/// What events of the open block had that most later ones have again: the ten values of a device, and the names behind them.
///
/// An event that has them from the same memory, or nearly so, needs no look-up of its texts one by one. It is a guess that is checked,
/// so a block is the same with it and without.
@safe struct KnownAttributes: ~Copyable {
  struct Entry {
    /// That of the identity or shape in the block.
    var number: Int
    /// What its texts take in JSON.
    var size: Int
  }

  /// What an event had whose memory lives as long as the block is written.
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

  /// Nil where the core values are not those, in the same memory, of the last event of such a device.
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

  /// Nil where the names are not those of the last such event.
  ///
  /// - Parameter event: the number of its code.
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
    // Events of one code that have the same names in other numbers are of other kinds: their first name tells them apart.
    let first = unsafe attributes.first.map { unsafe $0.name.count &+ Int($0.name.bytes.last ?? 0) } ?? 0
    return (event &* 31 &+ attributes.count &* 7 &+ first) & (Self.places - 1)
  }
}
