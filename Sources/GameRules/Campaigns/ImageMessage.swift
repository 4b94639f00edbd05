package import BatchFoundation

/// What an answer's `image` is good for as an image message (reference deltadna-service 4.4, deltadna 9).
package struct ImageMessage: Equatable, Sendable {
  /// What is missing, in the order of ``Part``.
  package var problems: [Part]
  /// What a phone has to load before it can show the message.
  package var assets: [String]

  package var isValid: Bool { problems.isEmpty }

  /// A part that an image message needs; the raw value names it in `problems`.
  package enum Part: String, CaseIterable, Sendable {
    case url
    case height
    case width
    case spritemap
    case layout
    case background = "spritemap.background"
    /// Landscape or portrait.
    case orientation = "layout.orientation"
  }

  /// - Parameter image: `image` of an answer.
  /// - Returns: nil if there is none.
  package init?(_ image: JSONNode?) {
    guard let image, !image.isNull else { return nil }
    func has(_ key: String, in node: JSONNode) -> Bool { node.present(key) != nil }
    problems = Part.allCases.filter { part in
      switch part {
      case .url, .height, .width, .spritemap, .layout: !has(part.rawValue, in: image)
      case .background: has("spritemap", in: image) && image["spritemap"].map { !has("background", in: $0) } ?? false
      case .orientation:
        has("layout", in: image)
          && image["layout"].map { !has("landscape", in: $0) && !has("portrait", in: $0) } ?? false
      }
    }
    assets = image["url"]?.string.map { [$0] } ?? []
  }
}
