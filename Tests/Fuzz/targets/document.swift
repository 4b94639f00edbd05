@testable import BatchConfiguration

/// Any bytes as a job, a configuration or a table: a document, or a fault with words.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let document = try? DocumentReader.read(bytes) else { return 0 }
  let reader = JobReader(document, file: "/jobs/job.json", source: "job.json")
  for fault in reader.faults { _ = fault.description }
  var layers = SettingLayers()
  layers.lay(document, .file, source: "c.json", directory: "/configs")
  for fault in layers.faults { _ = fault.description }
  return 0
}
