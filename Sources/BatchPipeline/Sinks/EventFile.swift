import BatchFoundation
import BatchIngest
import BatchStore

/// `--events-out`: events in the canonical form, one a line, in one order (reference formats 4.2).
enum EventFile {
  static func write(_ sequences: [BlockSequence], to path: String) throws {
    let file = try OutputFile(path)
    var merge = try EventMerge(EventMerge.narrowed(sequences, folder: IngestOptions().temporaryFolder))
    var buffer = ByteBuffer(capacity: 1 << 18)
    while try merge.appendNext(to: &buffer) {
      buffer.append(UInt8(ascii: "\n"))
      guard buffer.count > 1 << 17 else { continue }
      try flush(&buffer, file)
    }
    try flush(&buffer, file)
  }

  private static func flush(_ buffer: inout ByteBuffer, _ file: OutputFile) throws {
    try file.write(UnsafeRawBufferPointer(buffer.bytes))
    buffer.truncate(to: 0)
  }
}
