import BatchFoundation
import Glibc

/// For some event names, the parameters of recent events without findings and the values that are allowed there. Two
/// events are kept per name, because events of a name usually have the same parameters in the same order, apart from an
/// optional one. The kept events are compact and contiguous; a schema's tables exceed the first-level cache.
@safe struct FamiliarEvents: ~Copyable {
  /// The values of a parameter that have no finding.
  enum Values: UInt8 {
    case integer, number, boolean, text
    /// Any number, either boolean, or a nonempty string.
    case scalar
    /// Values that must be checked against the schema.
    case other

    /// Returns whether the value has a finding; nil if unknown.
    @inline(__always)
    func hasFinding(_ value: JSONView) -> Bool? {
      switch self {
      case .integer: value.number?.isInteger64 != true
      case .number: value.kind != .number
      case .boolean: value.bool == nil
      case .text: value.string?.isEmpty != false
      case .scalar: value.kind != .number && value.bool == nil && value.string?.isEmpty != false
      case .other: nil
      }
    }
  }

  struct Parameter {
    var name: Text
    var values: Values
    /// The index of the schema's node; nil if the value is not compared with the schema.
    var node: Int?
  }

  /// The parameters of one event, in order.
  @safe struct Parameters {
    fileprivate var at: UnsafeRawPointer
    fileprivate let end: UnsafeRawPointer

    @inline(__always)
    mutating func next() -> Parameter? {
      guard unsafe at < end else { return nil }
      let values = unsafe Values(rawValue: at.load(as: UInt8.self)) ?? .other
      let node = unsafe Int((at + 1).loadUnaligned(as: Int32.self))
      let (name, end) = unsafe JSONView.shortText(at: at + 5)
      unsafe at = end
      return Parameter(name: name, values: values, node: node < 0 ? nil : node)
    }
  }

  /// The size of a slot in bytes; larger events are not kept.
  private static let slotBytes = 512
  private static let pairs = 1024
  /// The slots, in adjacent pairs. Each has its length, the name of the event, and the event's parameters.
  private let memory: UnsafeMutableRawPointer

  /// For each pair, the slot that was written last: 0 or 1.
  private var latest = [UInt8](repeating: 0, count: pairs)

  init() {
    // The system provides zeroed pages only when a slot is written to.
    guard let zeros = unsafe calloc(2 * Self.pairs, Self.slotBytes) else {
      fatalError("cannot allocate a megabyte of memory")
    }
    unsafe memory = zeros
  }

  deinit { unsafe free(memory) }

  /// The number of events kept for each name.
  static let kept = 2

  /// Returns the parameters of an event that was kept under a name; nil if there is none.
  ///
  /// - Parameter place: 0 for the event kept last, up to ``kept`` (exclusive).
  @inline(__always)
  func parameters(ofEvent name: Text, _ place: Int) -> Parameters? {
    let slot = unsafe slot(of: name, place)
    let count = unsafe Int(slot.load(as: UInt16.self))
    guard count > 0 else { return nil }
    let (known, start) = unsafe JSONView.shortText(at: slot + 2)
    return known == name ? unsafe Parameters(at: start, end: slot + count) : nil
  }

  /// Keeps an event without findings, replacing the oldest one of its name; one that is too large is dropped.
  mutating func keep(_ name: Text, _ parameters: JSONView, _ describe: (Text, JSONView) -> Parameter) {
    let slot = unsafe slot(of: name, 1)
    latest[pair(of: name)] ^= 1
    unsafe slot.storeBytes(of: 0, as: UInt16.self)
    // A stored text takes at most five bytes more than its length.
    guard 2 + name.count + 5 <= Self.slotBytes else { return }
    var at = unsafe name.writeShort(to: slot + 2)
    var members = parameters.members
    while let (name, value) = members.next() {
      guard unsafe at - slot + name.count + 10 <= Self.slotBytes else { return }
      let parameter = describe(name, value)
      unsafe at.storeBytes(of: parameter.values.rawValue, as: UInt8.self)
      unsafe (at + 1).storeBytes(of: Int32(parameter.node ?? -1), as: Int32.self)
      unsafe at = name.writeShort(to: at + 5)
    }
    unsafe slot.storeBytes(of: UInt16(at - slot), as: UInt16.self)
  }

  @inline(__always)
  private func slot(of name: Text, _ place: Int) -> UnsafeMutableRawPointer {
    let pair = pair(of: name)
    return unsafe memory + (2 * pair + (Int(latest[pair]) ^ place)) * Self.slotBytes
  }

  /// Returns the index of the slot pair for a name. Names with the same pair replace each other, which only costs time.
  @inline(__always)
  private func pair(of name: Text) -> Int { Int(name.quickHash) & (Self.pairs - 1) }
}
