import BatchFoundation

/// The places of records that a map looks at.
///
/// Names that paths begin with are branches of one tree with a slot each, so that one walk over a record finds the values of all
/// (``RecordValues``); what else paths say is looked for from there, when it is asked for.
struct MapOutline {
  struct Place {
    fileprivate var slot: Int32
    /// Number of the steps from there; negative for none.
    fileprivate var tail: Int32 = -1
  }

  fileprivate static let record: Int32 = 0
  fileprivate static let line: Int32 = 1

  /// By slot, the slots of the names behind it.
  private var branches: [[(name: String, value: Int)]] = [[], []]
  fileprivate private(set) var tails: [ArraySlice<MapPath.Step>] = []
  fileprivate private(set) var names = NameIndex()
  /// By slot, the names behind it.
  fileprivate private(set) var scopes: [NameIndex.Scope] = []

  mutating func place(of path: MapPath) -> Place {
    var place = Place(slot: path.isOuter ? Self.line : Self.record)
    var steps = path.steps[...]
    while !path.isOuter, case .member(let bytes) = steps.first {
      place.slot = branch(of: place.slot, String(decoding: bytes, as: UTF8.self))
      steps.removeFirst()
    }
    if !steps.isEmpty {
      place.tail = Int32(tails.count)
      tails.append(steps)
    }
    return place
  }

  private mutating func branch(of slot: Int32, _ name: String) -> Int32 {
    if let known = branches[Int(slot)].first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
      return Int32(known.value)
    }
    branches[Int(slot)].append((name, branches.count))
    branches.append([])
    return Int32(branches.count - 1)
  }

  /// All places are known.
  mutating func finish() {
    scopes = branches.map { names.addScope($0) }
  }
}

/// What stands at the places of a map in the record at hand.
@safe final class RecordValues {
  private let outline: MapOutline
  private let starts: UnsafeMutablePointer<UnsafeRawPointer?>

  init(_ outline: MapOutline) {
    self.outline = outline
    unsafe starts = .allocate(capacity: outline.scopes.count)
  }

  deinit { unsafe starts.deallocate() }

  /// - Parameters:
  ///   - record: lives as long as its values are asked for.
  ///   - line: the one that it stands in.
  func read(_ record: JSONView, of line: JSONView) {
    unsafe starts.update(repeating: nil, count: outline.scopes.count)
    unsafe starts[Int(MapOutline.line)] = unsafe line.start
    read(record, Int(MapOutline.record))
  }

  private func read(_ value: JSONView, _ slot: Int) {
    unsafe starts[slot] = unsafe value.start
    let scope = outline.scopes[slot]
    guard !scope.isEmpty else { return }
    var members = value.members
    while let (key, member) = members.next() {
      if let slot = outline.names.value(of: key, in: scope) { read(member, slot) }
    }
  }

  /// Null included; nil where there is none.
  @inline(__always)
  subscript(place: MapOutline.Place) -> JSONView? {
    guard let start = unsafe starts[Int(place.slot)] else { return nil }
    let view = unsafe JSONView(at: start)
    return place.tail < 0 ? view : MapPath.value(outline.tails[Int(place.tail)], in: view)
  }
}
