import BatchFoundation

extension JSONNode {
  /// Returns seconds with three decimals; null if not a number.
  static func seconds(_ seconds: Double) -> JSONNode {
    let text = Wording.seconds(seconds)
    return seconds.isFinite && text != "?" ? JSONNode(.number(String(text.dropLast(2)))) : .text(nil)
  }

  /// Writes the array on one line.
  static func numbers(_ numbers: [Int]) -> JSONNode {
    JSONNode(.written(JSONNode.array(numbers.map { .number($0) }).compactText(", ", ": ")))
  }

  /// Returns the first elements that fit into this many bytes of text.
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
