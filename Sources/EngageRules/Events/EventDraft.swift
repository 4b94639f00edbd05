package import BatchFoundation

/// An event while it is put together: one entry per name, the caller's value before the automatic one before the core one
/// (reference events 1.5).
package struct EventDraft {
  package let code: Text
  package let timestamp: Instant
  package var core: CoreTexts
  /// Core attributes with a value of the caller, or an automatic one because a configured name is that of a core attribute;
  /// a bit for each slot.
  var replacedCore: UInt16 = 0
  /// All attributes that are not core, in no particular order, each name once.
  package var others: [Attribute] = []
  /// Of many attributes, the place of each name in ``others``; of few, looking through them is quicker.
  private var places: [Text: Int] = [:]
  private static let few = 24
  /// The caller or a phone set the ids; what identity finds out later does not touch them.
  package var identityIsFixed = false
  /// Its record is late, and outside sessions and campaigns (reference decisions 34).
  package var isLate = false
  /// Augmentation ran out of time (reference events 5.3).
  package var expired = false
  /// Where the record that led to it was read.
  package var source = StoredSource.unknown

  package init(code: Text, timestamp: Instant, core: CoreTexts) {
    self.code = code
    self.timestamp = timestamp
    self.core = core
  }

  /// The caller's value: it replaces whatever is there.
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

  /// An automatic value: it gives way to one of the caller, and to an automatic one that came before it. Where its configured
  /// name is that of a core attribute, the core value gives way (reference decisions 27).
  @inline(__always)
  package mutating func add(_ name: Text, _ value: Text) {
    if let slot = CoreAttribute(named: name) {
      if replacedCore & 1 << slot.rawValue == 0 { set(name, value) }
      return
    }
    guard !has(name) else { return }
    append(name, value)
  }

  package func has(_ name: Text) -> Bool { place(of: name) != nil }

  /// The value of any attribute, core ones included; nil if there is none.
  package func value(of name: Text) -> Text? {
    if let slot = CoreAttribute(named: name) { return core[slot] }
    return place(of: name).map { others[$0].value }
  }

  /// The attributes that are not core in the order of the wire, in memory of the arena.
  func ordered(in arena: Arena) -> UnsafeBufferPointer<Attribute> {
    let count = others.count
    let target = unsafe arena.allocate(count * MemoryLayout<Attribute>.stride).bindMemory(
      to: Attribute.self, capacity: count)
    for (index, attribute) in others.enumerated() {
      // Few and nearly sorted: insertion beats sorting; the many of a huge record are sorted below.
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
