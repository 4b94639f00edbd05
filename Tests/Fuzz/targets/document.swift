import BatchFoundation

@testable import BatchConfiguration

extension FuzzTarget {
  /// Any bytes as a job, a configuration or a table: a document, or a fault with words.
  static func document(_ input: UnsafeBufferPointer<UInt8>) {
    let bytes = Array(input)
    guard let document = try? DocumentReader.read(bytes) else { return }
    let reader = JobReader(
      document, file: "/jobs/job.json", source: "job.json", destinations: ["engage", "deltadna", "unity"],
      zones: ZoneDatabase(environment: [:]))
    for fault in reader.faults { _ = fault.description }
    var layers = SettingLayers()
    layers.lay(document, .file, source: "c.json", directory: "/configs")
    for fault in layers.faults { _ = fault.description }
  }
}
