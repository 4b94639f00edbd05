import CEmbedded

/// A map of an export that is widely used, by the name of its vendor (`docs/maps.md`): the files of `configs/maps`.
package struct Preset: Sendable {
  package let name: String
  /// The document of the map.
  package let text: String

  /// Whose exports it reads: the first words of its description.
  package var vendor: String {
    let member = "\"description\": \""
    guard let start = text.firstRange(of: member)?.upperBound else { return name }
    return String(text[start...].prefix { $0 != ":" && $0 != "\"" })
  }

  /// Whether it says itself how its files are cut.
  var hasForm: Bool { text.contains("\"form\":") }

  /// In the order in which people are told of them.
  package static let all = unsafe UnsafeBufferPointer(start: engage_presets(), count: Int(engage_preset_count())).map {
    unsafe Preset(name: String(cString: $0.name), text: String(cString: $0.text))
  }

  /// Nil where there is none of the name.
  package static func named(_ name: String) -> Preset? { all.first { $0.name.utf8.elementsEqual(name.utf8) } }
}
