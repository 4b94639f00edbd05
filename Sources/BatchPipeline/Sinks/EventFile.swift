import BatchFoundation
import BatchIngest
import BatchStore

/// Sorted sequences of which all events are meant, or those of a span of time.
struct EventSelection {
  var sequences: [BlockSequence]
  /// Leaves events out whose time is not in it; nil leaves none out.
  var window: DeliveryWindow?
}

/// `--events-out`: events in the canonical form, one a line, in one order (reference formats 4.2).
enum EventFile {
  /// - Parameter workers: threads that make the lines, this one among them.
  static func write(
    _ selections: [EventSelection], codec: any EventCodec, workers: Int, to path: String
  ) throws {
    let file = try OutputFile(path)
    let folder = IngestOptions.systemTemporaryFolder
    let narrowed = try selections.map { selection in
      var selection = selection
      selection.sequences = try EventMerge.narrowed(selection.sequences, codec: codec, folder: folder)
      return selection
    }
    let lines = try EventLines(narrowed, codec: codec, shares: workers)
    try unsafe lines.run(workers: workers) { try unsafe file.write(UnsafeRawBufferPointer($0)) }
    try file.finish()
  }
}
