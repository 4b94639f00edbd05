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

  @safe private struct Guess {
    /// Of the event that had it, whose memory lives as long as the block is written.
    var attributes: UnsafeBufferPointer<Attribute>
    var entry: Entry
    var generation: UInt32
  }

  private static let places = 512
  private let identities = UnsafeMutablePointer<Guess>.allocate(capacity: places)
  private let shapes = UnsafeMutablePointer<Guess>.allocate(capacity: places)
  private var generation: UInt32 = 1

  init() { forget() }

  deinit {
    unsafe identities.deallocate()
    unsafe shapes.deallocate()
  }

  private func forget() {
    let nothing = unsafe Guess(
      attributes: UnsafeBufferPointer(start: nil, count: 0), entry: Entry(number: 0, size: 0), generation: 0)
    unsafe identities.initialize(repeating: nothing, count: Self.places)
    unsafe shapes.initialize(repeating: nothing, count: Self.places)
  }

  mutating func removeAll() {
    generation &+= 1
    guard generation == 0 else { return }
    forget()
    generation = 1
  }

  /// Nil where the ten core attributes are not those, in the same memory, of the last event of such a device.
  @inline(__always)
  func identity(of attributes: UnsafeBufferPointer<Attribute>) -> Entry? {
    let guess = unsafe identities + identityPlace(attributes)
    guard unsafe guess.pointee.generation == generation, let known = unsafe guess.pointee.attributes.baseAddress,
      let asked = attributes.baseAddress
    else { return nil }
    for index in 0..<10 {
      guard unsafe known[index].value.isSameMemory(as: asked[index].value) else { return nil }
    }
    return unsafe guess.pointee.entry
  }

  @inline(__always)
  func note(identity: Entry, of attributes: UnsafeBufferPointer<Attribute>) {
    unsafe identities[identityPlace(attributes)] = unsafe Guess(
      attributes: attributes, entry: identity, generation: generation)
  }

  /// Nil where the names behind the core ones are not those of the last such event.
  ///
  /// - Parameter event: the number of its code.
  @inline(__always)
  func shape(of attributes: UnsafeBufferPointer<Attribute>, event: Int) -> Entry? {
    let guess = unsafe shapes + shapePlace(attributes, event)
    guard unsafe guess.pointee.generation == generation, unsafe guess.pointee.attributes.count == attributes.count,
      let known = unsafe guess.pointee.attributes.baseAddress, let asked = attributes.baseAddress
    else { return nil }
    for index in 10..<max(attributes.count, 10) {
      guard unsafe known[index].name == asked[index].name else { return nil }
    }
    return unsafe guess.pointee.entry
  }

  @inline(__always)
  func note(shape: Entry, of attributes: UnsafeBufferPointer<Attribute>, event: Int) {
    unsafe shapes[shapePlace(attributes, event)] = unsafe Guess(
      attributes: attributes, entry: shape, generation: generation)
  }

  @inline(__always)
  private func identityPlace(_ attributes: UnsafeBufferPointer<Attribute>) -> Int {
    let address = unsafe UInt(bitPattern: attributes[CoreAttribute.deviceId.rawValue].value.base)
    return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) &>> 48) & (Self.places - 1)
  }

  @inline(__always)
  private func shapePlace(_ attributes: UnsafeBufferPointer<Attribute>, _ event: Int) -> Int {
    // Events of one code that have the same names in other numbers are of other kinds: their first name tells them apart.
    let first = attributes.count > 10 ? unsafe attributes[10].name.count &+ Int(attributes[10].name.bytes.last ?? 0) : 0
    return (event &* 31 &+ attributes.count &* 7 &+ first) & (Self.places - 1)
  }
}
