import BatchFoundation
import Glibc

/// The parameters of events without findings, and the values allowed there, for some names. Events of one name mostly
/// have the same parameters in the same order, or sometimes one more: two are kept. They lie in one piece, while a
/// schema's tables exceed the processor's nearest cache.
@safe struct FamiliarEvents: ~Copyable {
  /// The values without findings.
  enum Values: UInt8 {
    case integer, number, boolean, text
    /// Any number, either boolean, or a nonempty text.
    case scalar
    /// Values that must be checked.
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
    /// The node of the schema; nil if the value is not compared.
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

  /// The size of a slot; larger events are not kept.
  private static let slotBytes = 512
  private static let pairs = 1024
  /// The slots, two next to each other: the length, the name of the event, and its parameters.
  private let memory: UnsafeMutableRawPointer

  /// The slot of each pair that was written last.
  private var latest = [UInt8](repeating: 0, count: pairs)

  init() {
    // Zeros take no memory until a slot is written.
    guard let zeros = unsafe calloc(2 * Self.pairs, Self.slotBytes) else {
      fatalError("cannot allocate a megabyte of memory")
    }
    unsafe memory = zeros
  }

  deinit { unsafe free(memory) }

  /// The number of events of a name that are kept.
  static let kept = 2

  /// Returns what is known of events of a name at a place below ``kept``, 0 for the one kept last; nil for nothing.
  @inline(__always)
  func parameters(ofEvent name: Text, _ place: Int) -> Parameters? {
    let slot = unsafe slot(of: name, place)
    let count = unsafe Int(slot.load(as: UInt16.self))
    guard count > 0 else { return nil }
    let (known, start) = unsafe JSONView.shortText(at: slot + 2)
    return known == name ? unsafe Parameters(at: start, end: slot + count) : nil
  }

  /// Keeps an event without findings, replacing the oldest one of its name.
  mutating func keep(_ name: Text, _ parameters: JSONView, _ describe: (Text, JSONView) -> Parameter) {
    let slot = unsafe slot(of: name, 1)
    latest[pair(of: name)] ^= 1
    unsafe slot.storeBytes(of: 0, as: UInt16.self)
    // A text takes at most five more bytes than its length.
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

  /// Returns the pair of a name. Names with the same pair replace each other, which only costs time.
  @inline(__always)
  private func pair(of name: Text) -> Int { Int(name.quickHash) & (Self.pairs - 1) }
}
