/// Whole numbers as one string with blanks between them. A stored report has tens of thousands; encoding them one by
/// one costs more than the run of a small export.
struct NumberLine: Codable {
  let numbers: [Int64]

  init(numbers: [Int64]) { self.numbers = numbers }

  init(from decoder: any Decoder) throws {
    numbers = try decoder.singleValueContainer().decode(String.self).split(separator: " ").map { word in
      guard let number = Int64(word) else { throw Self.wrong(decoder, "whole numbers") }
      return number
    }
  }

  func encode(to encoder: any Encoder) throws {
    var text = ""
    for number in numbers {
      if !text.isEmpty { text += " " }
      text += String(number)
    }
    var value = encoder.singleValueContainer()
    try value.encode(text)
  }

  static func wrong(_ decoder: any Decoder, _ wanted: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "these are not \(wanted)"))
  }
}
