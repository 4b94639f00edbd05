import BatchFoundation
import BatchIngest

/// The places in records that a map reads.
///
/// The leading names of all paths form a tree with a slot per name, so that one pass over a record finds all values
/// (``RecordValues``). The remaining steps of a path are followed on demand.
struct MapOutline {
  struct Place {
    fileprivate var slot: Int32
    /// The index of the remaining steps in `tails`; negative if there are none.
    fileprivate var tail: Int32 = -1
  }

  private struct Branch {
    var parent: Int32
    var name: Text
    var isParent = false
    var names = MapNames.exact
  }

  fileprivate static let record: Int32 = 0
  fileprivate static let line: Int32 = 1

  private var branches = [Branch(parent: -1, name: .empty), Branch(parent: -1, name: .empty)]
  fileprivate private(set) var tails: [(steps: ArraySlice<MapPath.Step>, names: MapNames)] = []
  /// By the first and last letter of a name, whether a slot that accepts similar names could match it.
  private var similarEnds = Array(repeating: false, count: 1 << 10)
  /// The slots by a hash of their name and parent; 0 for none.
  private var table: [Int32] = []

  fileprivate var count: Int { branches.count }

  /// - Parameter memory: the memory for names; it must live as long as the outline.
  mutating func place(of path: MapPath, _ memory: Arena) -> Place {
    var place = Place(slot: path.isOuter ? Self.line : Self.record)
    var steps = path.steps[...]
    while !path.isOuter, case .member(let name) = steps.first {
      place.slot = unsafe name.withUnsafeBufferPointer { unsafe branch(of: place.slot, memory.copy($0)) }
      if path.names != .exact, !name.isEmpty {
        if branches[Int(place.slot)].names != .similar { branches[Int(place.slot)].names = path.names }
        similarEnds[Self.ends(of: branches[Int(place.slot)].name)] = true
      }
      steps.removeFirst()
    }
    if !steps.isEmpty {
      place.tail = Int32(tails.count)
      tails.append((steps, path.names))
    }
    return place
  }

  private mutating func branch(of parent: Int32, _ name: Text) -> Int32 {
    branches[Int(parent)].isParent = true
    if let known = branches.indices.first(where: { branches[$0].parent == parent && branches[$0].name == name }) {
      return Int32(known)
    }
    branches.append(Branch(parent: parent, name: name))
    return Int32(branches.count - 1)
  }

  /// Builds the table; must be called once all places are known.
  mutating func finish() {
    var size = 64
    while size < branches.count * 4 { size *= 2 }
    table = Array(repeating: 0, count: size)
    for slot in branches.indices.dropFirst(2) {
      var at = start(branches[slot].name, branches[slot].parent)
      while table[at] > 0 { at = (at + 1) & (table.count - 1) }
      table[at] = Int32(slot)
    }
  }

  @inline(__always)
  private func start(_ name: Text, _ parent: Int32) -> Int {
    (NameSlots.slot(of: name) &+ Int(parent) &* 29) & (table.count - 1)
  }

  @inline(__always)
  fileprivate func slot(of name: Text, in parent: Int32) -> Int32? {
    var at = start(name, parent)
    while table[at] > 0 {
      let slot = table[at]
      if branches[Int(slot)].parent == parent, isNamed(slot, name) { return slot }
      at = (at + 1) & (table.count - 1)
    }
    return nil
  }

  @inline(__always)
  private static func ends(of name: Text) -> Int {
    // Similar names may differ in underscores at both ends.
    var (first, last) = (0, name.count - 1)
    while first < last, name[first] == UInt8(ascii: "_") { first += 1 }
    while last > first, name[last] == UInt8(ascii: "_") { last -= 1 }
    return Int(name[first] & 31) << 5 | Int(name[last] & 31)
  }

  /// Returns the slot that accepts a name that no slot has exactly; nil if there is none.
  @inline(__always)
  fileprivate func similarSlot(to name: Text, in parent: Int32) -> Int32? {
    guard !name.isEmpty, similarEnds[Self.ends(of: name)] else { return nil }
    return branches.indices.first {
      branches[$0].parent == parent && name.isMeant(by: branches[$0].name, branches[$0].names)
    }.map { Int32($0) }
  }

  @inline(__always)
  fileprivate func isNamed(_ slot: Int32, _ name: Text) -> Bool { branches[Int(slot)].name == name }

  @inline(__always)
  fileprivate func hasNames(_ slot: Int32) -> Bool { branches[Int(slot)].isParent }
}

/// The values at a map's places in the current record.
@safe final class RecordValues {
  private let outline: MapOutline
  let texts = JSONTexts()
  /// Whether the current record is the line itself.
  private(set) var isLine = true
  private let starts: UnsafeMutablePointer<UnsafeRawPointer?>
  /// For each slot, the slot that followed it in an earlier record, or 0. It serves as a guess, because most records
  /// are alike. The first entries, one per slot of the outline, are for the next member; an equal number are for the
  /// first member inside; the rest are for the member after an ``ignored`` name. All slots have the right parent, so
  /// comparing names suffices.
  private let following: UnsafeMutablePointer<Int32>
  /// Names that no path reads. Their slots follow the outline's, so that they are guessed too.
  private var ignored: [Text] = []
  private let names = Arena(blockSize: 1 << 10)

  private static let mostIgnored = 64

  init(_ outline: MapOutline) {
    self.outline = outline
    unsafe starts = .allocate(capacity: outline.count)
    let count = 2 * outline.count + Self.mostIgnored
    unsafe following = .allocate(capacity: count)
    unsafe following.initialize(repeating: 0, count: count)
  }

  deinit {
    unsafe starts.deallocate()
    unsafe following.deallocate()
  }

  /// Finds the values of a record.
  ///
  /// - Parameter record: the record, which must live as long as its values are used.
  func read(_ record: JSONView, of line: JSONView) {
    unsafe starts.update(repeating: nil, count: outline.count)
    unsafe starts[Int(MapOutline.line)] = unsafe line.start
    isLine = unsafe line.start == record.start
    read(record, MapOutline.record)
  }

  private func read(_ value: JSONView, _ slot: Int32) {
    unsafe starts[Int(slot)] = unsafe value.start
    guard outline.hasNames(slot) else { return }
    var last = outline.count + Int(slot)
    var members = texts.value(of: value).members
    while let (key, member) = members.next() {
      var next = unsafe following[last]
      if next == 0 || !isNamed(next, key) {
        guard let known = outline.slot(of: key, in: slot) else {
          if let similar = outline.similarSlot(to: key, in: slot) {
            if member.isGiven, !isGiven(similar) { read(member, similar) }
          } else if next == 0 {
            ignore(key, after: &last)
          }
          continue
        }
        next = known
        unsafe following[last] = next
      }
      if next >= outline.count {
        last = Int(next)
        continue
      }
      // A later null or empty value does not replace an earlier one for the same slot.
      if member.isGiven || !isGiven(next) { read(member, next) }
      last = Int(next)
    }
  }

  @inline(__always)
  private func isNamed(_ slot: Int32, _ name: Text) -> Bool {
    slot < outline.count ? outline.isNamed(slot, name) : ignored[Int(slot) - 2 * outline.count] == name
  }

  private func ignore(_ name: Text, after last: inout Int) {
    guard ignored.count < Self.mostIgnored else { return }
    let slot = 2 * outline.count + ignored.count
    unsafe ignored.append(names.copy(name.bytes))
    unsafe following[last] = Int32(slot)
    last = slot
  }

  private func isGiven(_ slot: Int32) -> Bool {
    unsafe starts[Int(slot)].map { unsafe JSONView(at: $0).isGiven } ?? false
  }

  /// The value at a place, which may be null; nil if there is none.
  @inline(__always)
  subscript(place: MapOutline.Place) -> JSONView? {
    guard let start = unsafe starts[Int(place.slot)] else { return nil }
    let view = unsafe JSONView(at: start)
    if place.tail < 0 { return view }
    let tail = outline.tails[Int(place.tail)]
    return MapPath.value(tail.steps, in: view, tail.names, texts)
  }

  /// Returns the value at a place, parsed if it is JSON in a string; nil if there is none.
  func content(of place: MapOutline.Place) -> JSONView? { self[place].map(texts.value) }
}
