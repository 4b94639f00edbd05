@testable import BatchConfiguration

extension FuzzTarget {
  /// Any bytes as a look-up table: rows, or a fault with words.
  static func table(_ input: UnsafeBufferPointer<UInt8>) {
    let bytes = Array(input)
    let table = LookupTable(
      file: "/t.csv", keyAttribute: "appVersion", keyColumn: "key", columns: [.init(name: "value", attribute: "Value")])
    do throws(ConfigurationErrors) {
      _ = try table.rows(in: bytes, source: "t.csv")
    } catch {
      _ = "\(error)"
    }
  }
}
