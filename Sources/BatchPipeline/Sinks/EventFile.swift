import BatchFoundation
import BatchIngest
import BatchStore

/// `--events-out`: events in the canonical form, one a line, in one order (reference formats 4.2).
enum EventFile {
  /// - Parameter window: leaves events out whose time is not in it; nil leaves none out.
  static func write(
    _ sequences: [BlockSequence], codec: any EventCodec, within window: DeliveryWindow?, to path: String
  ) throws {
    let file = try OutputFile(path)
    let folder = IngestOptions.systemTemporaryFolder
    var merge = try EventMerge(EventMerge.narrowed(sequences, codec: codec, folder: folder), codec: codec)
    var buffer = ByteBuffer(capacity: 1 << 18)
    while let timestamp = merge.timestamp {
      if let window, !window.contains(timestamp) {
        try merge.skip()
        continue
      }
      _ = try merge.appendNext(to: &buffer)
      buffer.append(UInt8(ascii: "\n"))
      guard buffer.count > 1 << 17 else { continue }
      try flush(&buffer, file)
    }
    try flush(&buffer, file)
    try file.finish()
  }

  private static func flush(_ buffer: inout ByteBuffer, _ file: OutputFile) throws {
    try unsafe file.write(UnsafeRawBufferPointer(buffer.bytes))
    buffer.truncate(to: 0)
  }
}
