import EngageRules

/// Any bytes as a route file: routes with their notes, or all faults with words.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  do throws(RouteFileError) {
    for note in try RouteFile.read(Array(UnsafeBufferPointer(start: start, count: count)), name: "routes.json").notes {
      _ = note.description
    }
  } catch {
    _ = error.description
  }
  return 0
}
