import BatchFoundation

/// The place in an event that is being looked at; it becomes a JSON Pointer only if there is something to find.
struct EventPath {
  private enum Step {
    case member(Text)
    case element(Int)
  }

  private var steps: [Step] = []

  init() { steps.reserveCapacity(64) }

  @inline(__always)
  mutating func enter(_ name: Text) { steps.append(.member(name)) }

  @inline(__always)
  mutating func enter(_ index: Int) { steps.append(.element(index)) }

  @inline(__always)
  mutating func leave() { steps.removeLast() }

  /// RFC 6901.
  var pointer: [UInt8] {
    var pointer: [UInt8] = []
    for step in steps {
      pointer.append(UInt8(ascii: "/"))
      switch step {
      case .element(let index): pointer.append(contentsOf: "\(index)".utf8)
      case .member(let name):
        for byte in name {
          switch byte {
          case UInt8(ascii: "~"): pointer.append(contentsOf: "~0".utf8)
          case UInt8(ascii: "/"): pointer.append(contentsOf: "~1".utf8)
          default: pointer.append(byte)
          }
        }
      }
    }
    return pointer
  }
}
