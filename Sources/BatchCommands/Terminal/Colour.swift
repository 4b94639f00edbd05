import Glibc

/// The coloring of errors and warnings: on a terminal with colors, unless `NO_COLOR` or `--color` says otherwise.
enum Colour: String, CaseIterable {
  case auto, always, never

  /// The prefixes that are colored.
  private static let codes = [("error: ", "\u{1B}[1;31m"), ("warning: ", "\u{1B}[33m")]
  private static let end = "\u{1B}[0m"

  /// Removes `--color` and its value, given before a lone `--`, from the arguments; nil for an unknown value.
  static func take(from arguments: [String]) -> (rest: [String], colour: Colour?) {
    var rest: [String] = []
    var word = Colour.auto.rawValue
    var next = arguments.startIndex
    while next < arguments.endIndex, arguments[next] != "--" {
      let argument = arguments[next]
      next += 1
      if argument.hasPrefix("--color=") {
        word = String(argument.dropFirst("--color=".count))
      } else if argument == "--color" {
        word = next < arguments.endIndex ? arguments[next] : ""
        next += 1
      } else {
        rest.append(argument)
      }
    }
    return (rest + arguments[min(next, arguments.endIndex)...], Colour(rawValue: word))
  }

  /// Whether lines on the stream are colored.
  func isOn(_ descriptor: Int32, _ environment: (String) -> String?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto:
      environment("NO_COLOR")?.isEmpty ?? true && environment("TERM") != "dumb" && isatty(descriptor) == 1
    }
  }

  /// Returns the line with its severity colored.
  static func coloured(_ line: String) -> String {
    for (word, code) in codes {
      guard let place = line.firstRange(of: word) else { continue }
      let rest = line.index(before: place.upperBound)
      return "\(line[..<place.lowerBound])\(code)\(line[place.lowerBound..<rest])\(end)\(line[rest...])"
    }
    return line
  }
}
