/// What a job or another map calls a map (reference formats 6.1).
package enum MapName {
  /// Whether the name is a path; else it is that of a preset.
  package static func isFile(_ name: String) -> Bool {
    name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
  }
}
