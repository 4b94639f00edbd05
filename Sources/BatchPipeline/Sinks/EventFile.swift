import BatchFoundation
import BatchIngest
import BatchStore

/// Sorted sequences, all events of which are selected, or those of a span of time.
struct EventSelection {
  var sequences: [BlockSequence]
  /// The times of the selected events; nil for all.
  var window: DeliveryWindow?
}

/// Writes `--events-out`: events in the canonical form, one per line, in one order (reference formats 4.2).
enum EventFile {
  /// - Parameter workers: the number of threads that make the lines, including this one.
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
