package import BatchFoundation

/// The current place in an event. It is converted to a JSON Pointer only for a finding.
@safe package struct EventPath: ~Copyable {
  private enum Step {
    case member(Text)
    case element(Int)
  }

  private var steps: UnsafeMutablePointer<Step>
  private var capacity = 80
  private var depth = 0

  init() { unsafe steps = .allocate(capacity: capacity) }

  deinit { unsafe steps.deallocate() }

  @inline(__always)
  mutating func enter(_ name: Text) { enter(.member(name)) }

  @inline(__always)
  mutating func enter(_ index: Int) { enter(.element(index)) }

  @inline(__always)
  mutating func leave() { depth -= 1 }

  @inline(__always)
  private mutating func enter(_ step: Step) {
    if depth == capacity { grow() }
    unsafe (steps + depth).initialize(to: step)
    depth += 1
  }

  private mutating func grow() {
    let wider = UnsafeMutablePointer<Step>.allocate(capacity: capacity * 2)
    unsafe wider.moveInitialize(from: steps, count: depth)
    unsafe steps.deallocate()
    unsafe steps = wider
    capacity *= 2
  }

  /// The place as a JSON Pointer (RFC 6901).
  var pointer: [UInt8] {
    var pointer: [UInt8] = []
    for index in 0..<depth {
      switch unsafe steps[index] {
      case .element(let index): pointer.append(contentsOf: "/\(index)".utf8)
      case .member(let name): Self.append(name, to: &pointer)
      }
    }
    return pointer
  }

  /// Returns the JSON Pointer to a member of the event.
  package static func pointer(to name: Text) -> String {
    var pointer: [UInt8] = []
    append(name, to: &pointer)
    return String(decoding: pointer, as: UTF8.self)
  }

  private static func append(_ name: Text, to pointer: inout [UInt8]) {
    pointer.append(UInt8(ascii: "/"))
    for byte in name {
      switch byte {
      case UInt8(ascii: "~"): pointer.append(contentsOf: "~0".utf8)
      case UInt8(ascii: "/"): pointer.append(contentsOf: "~1".utf8)
      default: pointer.append(byte)
      }
    }
  }
}
