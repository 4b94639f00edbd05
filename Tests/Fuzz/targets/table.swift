@testable import BatchConfiguration

/// Any bytes as a look-up table: rows, or a fault with words.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let table = LookupTable(
    file: "/t.csv", keyAttribute: "appVersion", keyColumn: "key", columns: [.init(name: "value", attribute: "Value")])
  do throws(ConfigurationErrors) {
    _ = try table.rows(in: bytes, source: "t.csv")
  } catch {
    _ = "\(error)"
  }
  return 0
}
