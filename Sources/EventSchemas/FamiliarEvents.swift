import BatchFoundation
import Glibc

/// For some names of events, what those looked like that had no finding: their parameters, and the values that may stand there.
///
/// Events of one name mostly have the same parameters in the same order, or one more now and then: two are kept. All that has to be known of them lies in one piece, where the
/// tables of a schema are spread over more memory than the processor's nearest cache has.
@safe struct FamiliarEvents: ~Copyable {
  /// Which values have no finding.
  enum Values: UInt8 {
    case integer, number, boolean, text
    /// Any number, either boolean, and a text that is not empty.
    case scalar
    /// Has to be looked at.
    case other

    /// Whether the value may not stand there; nil if that is not known.
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
    /// Of the schema; nil if the value is not compared.
    var node: Int?
  }

  /// The parameters of one event, in their order.
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

  /// Events with more to tell are not kept.
  private static let slotBytes = 512
  private static let pairs = 1024
  /// In each slot its length, the name of the event, and its parameters; two slots lie together.
  private let memory: UnsafeMutableRawPointer

  /// Which slot of each pair was written last.
  private var latest = [UInt8](repeating: 0, count: pairs)

  init() {
    // Of zeros, which take no memory until a slot is written.
    guard let zeros = unsafe calloc(2 * Self.pairs, Self.slotBytes) else { fatalError("no memory for a megabyte") }
    unsafe memory = zeros
  }

  deinit { unsafe free(memory) }

  /// How many events of a name are kept.
  static let kept = 2

  /// What is known of the events of a name; nil for nothing.
  ///
  /// - Parameter place: below ``kept``; the last one that was kept is the first.
  @inline(__always)
  func parameters(ofEvent name: Text, _ place: Int) -> Parameters? {
    let slot = unsafe slot(of: name, place)
    let count = unsafe Int(slot.load(as: UInt16.self))
    guard count > 0 else { return nil }
    let (known, start) = unsafe JSONView.shortText(at: slot + 2)
    return known == name ? unsafe Parameters(at: start, end: slot + count) : nil
  }

  /// Keeps an event without findings, in the place of the oldest one of its name.
  mutating func keep(_ name: Text, _ parameters: JSONView, _ describe: (Text, JSONView) -> Parameter) {
    let slot = unsafe slot(of: name, 1)
    latest[pair(of: name)] ^= 1
    unsafe slot.storeBytes(of: 0, as: UInt16.self)
    // Five bytes are the most that stand around a text.
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

  /// Names that share a pair push each other out, which costs time alone.
  @inline(__always)
  private func pair(of name: Text) -> Int { Int(name.quickHash) & (Self.pairs - 1) }
}
