import BatchFoundation
import BatchStore
import DeltaDNAEvents
import EngageEvents

/// Any bytes as a block of a store: events, or an error.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let block = Array(UnsafeBufferPointer(start: start, count: count))
  for codec in [EngageEventCodec(), GameEventCodec()] as [any EventCodec] { try? read(block, codec) }
  return 0
}

private func read(_ block: [UInt8], _ codec: any EventCodec) throws {
  let cursor = try codec.cursor(of: block)
  var json = ByteBuffer()
  while try cursor.next() {
    _ = cursor.device.description
    json.removeAll()
    cursor.appendJSON(to: &json)
  }
  var body = ByteBuffer()
  try block.withUnsafeBufferPointer { try codec.appendBody(of: $0, version: 0, to: &body) }
}
