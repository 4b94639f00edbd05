package import BatchFoundation

/// An event under construction, with one value per name: the caller's, otherwise the automatic one, otherwise the core
/// one (reference events 1.5).
package struct EventDraft {
  package private(set) var code: Text
  package private(set) var timestamp: Instant
  package var core: CoreTexts
  /// A bit for each core attribute set by the caller, or by an automatic value configured with its name.
  var replacedCore: UInt16 = 0
  /// The attributes that are not core, in no particular order; each name occurs once.
  package var others: [Attribute] = []
  /// The index of each name in ``others`` if there are many; with few, a linear search is faster.
  private var places: [Text: Int] = [:]
  private static let few = 24
  /// Whether the caller or a phone set the ids; later identity results then do not change them.
  package var identityIsFixed = false
  /// Whether the record is late, so that the event is outside sessions and campaigns (reference decisions 34).
  package var isLate = false
  /// Whether augmentation ran out of time (reference events 5.3).
  package var expired = false
  /// The place where the event's record was read.
  package var source = StoredSource.unknown

  package init(code: Text, timestamp: Instant, core: CoreTexts) {
    self.code = code
    self.timestamp = timestamp
    self.core = core
  }

  /// Starts another event; the attributes keep their memory.
  @inline(__always)
  mutating func clear(code: Text, timestamp: Instant, core: CoreTexts) {
    (self.code, self.timestamp, self.core) = (code, timestamp, core)
    replacedCore = 0
    others.removeAll(keepingCapacity: true)
    if !places.isEmpty { places = [:] }
    (identityIsFixed, isLate, expired) = (false, false, false)
    source = .unknown
  }

  /// Sets a value from the caller; it replaces any other.
  @inline(__always)
  package mutating func set(_ name: Text, _ value: Text) {
    if let slot = CoreAttribute(named: name) {
      core[slot] = value
      replacedCore |= 1 << slot.rawValue
      if slot == .primaryUserId || slot == .recipientId { identityIsFixed = true }
      return
    }
    if let place = place(of: name) {
      others[place].value = value
    } else {
      append(name, value)
    }
  }

  @inline(__always)
  private mutating func append(_ name: Text, _ value: Text) {
    others.append(Attribute(name, value))
    guard others.count > Self.few else { return }
    if places.count == others.count - 1 {
      places[name] = others.count - 1
    } else {
      places = Dictionary(others.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
  }

  @inline(__always)
  private func place(of name: Text) -> Int? {
    guard places.isEmpty || places.count != others.count else { return places[name] }
    for index in others.indices where others[index].name == name { return index }
    return nil
  }

  /// Adds an automatic value unless the caller or an earlier automatic value set the name. If the configured name is
  /// that of a core attribute, the value replaces the core value (reference decisions 27).
  @inline(__always)
  package mutating func add(_ name: Text, _ value: Text) {
    if let slot = CoreAttribute(named: name) {
      if replacedCore & 1 << slot.rawValue == 0 { set(name, value) }
      return
    }
    guard !has(name) else { return }
    append(name, value)
  }

  @inline(__always)
  package func has(_ name: Text) -> Bool { place(of: name) != nil }

  /// Returns the value of any attribute, including core ones; nil if there is none.
  package func value(of name: Text) -> Text? {
    if let slot = CoreAttribute(named: name) { return core[slot] }
    return place(of: name).map { others[$0].value }
  }

  /// Returns a copy of the core values in the arena: `newest`, which it replaces, if that has the same texts.
  ///
  /// Mutating, because values of this size would be copied to be passed.
  @inline(__always)
  mutating func placedCore(_ newest: inout UnsafePointer<CoreTexts>?, in arena: Arena) -> UnsafePointer<CoreTexts> {
    if let newest = unsafe newest, unsafe core.isSameMemory(as: newest) { return unsafe newest }
    let placed = unsafe core.placed(in: arena)
    unsafe newest = placed
    return unsafe placed
  }

  /// Returns the attributes that are not core in wire order, allocated in the arena.
  func ordered(in arena: Arena) -> UnsafeBufferPointer<Attribute> {
    let count = others.count
    let target = unsafe arena.allocate(count * MemoryLayout<Attribute>.stride).bindMemory(
      to: Attribute.self, capacity: count)
    for (index, attribute) in others.enumerated() {
      // Few attributes are inserted in order, which is faster than sorting; many are sorted below.
      if count > Self.few {
        unsafe target[index] = attribute
        continue
      }
      var place = index
      while place > 0, unsafe attribute.name < target[place - 1].name {
        unsafe target[place] = target[place - 1]
        place -= 1
      }
      unsafe target[place] = attribute
    }
    var ordered = unsafe UnsafeMutableBufferPointer(start: target, count: count)
    if count > Self.few { unsafe ordered.sort { $0.name < $1.name } }
    return UnsafeBufferPointer(ordered)
  }
}
