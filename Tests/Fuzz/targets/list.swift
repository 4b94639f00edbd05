import BatchFoundation

@testable import BatchConfiguration

extension FuzzTarget {
  /// Any bytes as a binary property list, and as the objects of one, each byte the place of one: a document of bounded size, or a fault with words.
  static func list(_ input: UnsafeBufferPointer<UInt8>) {
    read(Array(input))
    let objects = input.prefix(240)
    guard !objects.isEmpty else { return }
    let table = objects.indices.map { UInt8(8 + $0) }
    let trailer: [UInt8] = [0, 0, 0, 0, 0, 0, 1, 1] + number(table.count) + number(0) + number(8 + objects.count)
    read(Array("bplist00".utf8) + objects + table + trailer)
  }

  private static func number(_ value: Int) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func read(_ bytes: [UInt8]) {
    do {
      _ = try BinaryPropertyListReader.read(bytes).canonicalText
    } catch {
      precondition(!error.problem.isEmpty)
    }
  }
}
