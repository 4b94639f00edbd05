import BatchFoundation
import BatchStore
import EngageRules
import GameRules

extension FuzzTarget {
  /// Any bytes as a block of a store: events, or an error.
  static func block(_ input: UnsafeBufferPointer<UInt8>) {
    let block = Array(input)
    for wireForm in [WireForm.engage, .game] { try? read(block, wireForm) }
  }
}

private func read(_ block: [UInt8], _ wireForm: WireForm) throws {
  let cursor = try wireForm.reader(of: block)
  var json = ByteBuffer()
  while try cursor.next() {
    _ = cursor.device.description
    json.removeAll()
    cursor.appendJSON(to: &json)
  }
  var body = ByteBuffer()
  try block.withUnsafeBufferPointer { try wireForm.appendBody(of: $0, version: 0, to: &body) }
}
