import BatchFoundation

extension JSONNode {
  /// With three digits behind the point; null for what is no number.
  static func seconds(_ seconds: Double) -> JSONNode {
    let text = Wording.seconds(seconds)
    return seconds.isFinite && text != "?" ? JSONNode(.number(String(text.dropLast(2)))) : .text(nil)
  }

  /// On one line.
  static func numbers(_ numbers: [Int]) -> JSONNode {
    JSONNode(.written(JSONNode.array(numbers.map { .number($0) }).compactText(", ", ": ")))
  }

  /// The elements that fit into so many bytes of text.
  static func list(_ elements: [JSONNode], atMost bytes: Int) -> JSONNode {
    var left = bytes
    return .array(
      Array(
        elements.prefix { element in
          left -= element.text(indentation: 6).utf8.count
          return left >= 0
        }))
  }
}
