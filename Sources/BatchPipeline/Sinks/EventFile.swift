import BatchFoundation
import BatchIngest
import BatchStore

/// `--events-out`: events in the canonical form, one a line, in one order (reference formats 4.2).
enum EventFile {
  /// - Parameters:
  ///   - window: leaves events out whose time is not in it; nil leaves none out.
  ///   - workers: threads that make the lines, this one among them.
  static func write(
    _ sequences: [BlockSequence], codec: any EventCodec, within window: DeliveryWindow?, workers: Int, to path: String
  ) throws {
    let file = try OutputFile(path)
    let folder = IngestOptions.systemTemporaryFolder
    let narrowed = try EventMerge.narrowed(sequences, codec: codec, folder: folder)
    let lines = try EventLines(narrowed, codec: codec, within: window, shares: workers)
    try unsafe lines.run(workers: workers) { try unsafe file.write(UnsafeRawBufferPointer($0)) }
    try file.finish()
  }
}
