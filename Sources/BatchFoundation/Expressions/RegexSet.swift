/// A set of characters: a literal, `.`, an escape such as `\d`, or a bracket class.
struct RegexSet: Sendable {
  private let parts: [Part]
  private let isNegated: Bool
  private let ignoresCase: Bool
  /// The precomputed result for each ASCII character.
  private var ascii: (low: UInt64, high: UInt64) = (0, 0)

  enum Part: Sendable {
    case range(ClosedRange<UInt32>)
    case property(RegexProperty, isNegated: Bool)
    case set(RegexSet)
  }

  init(_ parts: [Part], isNegated: Bool = false, ignoresCase: Bool = false) {
    self.parts = parts
    self.isNegated = isNegated
    self.ignoresCase = ignoresCase
    for code in UInt32(0)..<64 {
      if decide(code) { ascii.low |= 1 << UInt64(code) }
      if decide(code + 64) { ascii.high |= 1 << UInt64(code) }
    }
  }

  /// The number of parts to check per character, including those of nested classes.
  var partCount: Int {
    parts.reduce(0) { count, part in
      if case .set(let set) = part { count + set.partCount } else { count + 1 }
    }
  }

  func contains(_ scalar: UInt32) -> Bool {
    if scalar < 64 { return ascii.low >> UInt64(scalar) & 1 == 1 }
    if scalar < 128 { return ascii.high >> UInt64(scalar - 64) & 1 == 1 }
    return decide(scalar)
  }

  private func decide(_ scalar: UInt32) -> Bool {
    let found = holds(scalar) || (ignoresCase && caseVariants(of: scalar).contains(where: holds))
    return found != isNegated
  }

  private func holds(_ scalar: UInt32) -> Bool {
    parts.contains { part in
      switch part {
      case .range(let range): range.contains(scalar)
      case .property(let property, let isNegated): property.contains(scalar) != isNegated
      case .set(let set): set.contains(scalar)
      }
    }
  }
}

/// Returns the case variants of a letter that are single characters.
func caseVariants(of scalar: UInt32) -> [UInt32] {
  guard let character = Unicode.Scalar(scalar) else { return [] }
  func single(_ text: String) -> Unicode.Scalar? {
    text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
  }
  let lower = single(character.properties.lowercaseMapping)
  let upper = single(character.properties.uppercaseMapping)
  let folded = upper.flatMap { single($0.properties.lowercaseMapping) }
  return [lower, upper, folded].compactMap { $0?.value }
}

/// A character property with ICU's meaning.
enum RegexProperty: Sendable, Equatable {
  /// `\d`: decimal digits of any script.
  case digit
  /// `\w`
  case word
  /// `\s`
  case space
  case horizontalSpace
  /// `\v`: the characters that `.` does not match.
  case lineTerminator
  case alphabetic, alphanumeric, uppercase, lowercase, punctuation, hexDigit
  /// Characters that extend the one before them: combining marks and format characters.
  case attached
  case any
  /// Some of the general categories, such as those of `L` or `Lu`.
  case categories(Set<Unicode.GeneralCategory>)

  func contains(_ scalar: UInt32) -> Bool {
    switch self {
    case .any: true
    case .attached: holds(scalar, \.isGraphemeExtend) || category(of: scalar) == .format
    case .lineTerminator:
      (0x0A...0x0D).contains(scalar) || scalar == 0x85 || scalar == 0x2028 || scalar == 0x2029
    case .space:
      scalar == 0x09 || scalar == 0x0A || scalar == 0x0C || scalar == 0x0D || isOne(of: Self.separators, scalar)
    case .horizontalSpace: scalar == 0x09 || category(of: scalar) == .spaceSeparator
    case .digit: category(of: scalar) == .decimalNumber
    case .word:
      holds(scalar, \.isAlphabetic) || isOne(of: Self.inWords, scalar) || scalar == 0x200C || scalar == 0x200D
    case .alphabetic: holds(scalar, \.isAlphabetic)
    case .alphanumeric: holds(scalar, \.isAlphabetic) || category(of: scalar) == .decimalNumber
    case .uppercase: holds(scalar, \.isUppercase)
    case .lowercase: holds(scalar, \.isLowercase)
    case .punctuation: isOne(of: Self.punctuationMarks, scalar)
    case .hexDigit: category(of: scalar) == .decimalNumber || holds(scalar, \.isHexDigit)
    case .categories(let categories): isOne(of: categories, scalar)
    }
  }

  private func holds(_ scalar: UInt32, _ property: KeyPath<Unicode.Scalar.Properties, Bool>) -> Bool {
    Unicode.Scalar(scalar)?.properties[keyPath: property] ?? false
  }

  private func category(of scalar: UInt32) -> Unicode.GeneralCategory? {
    Unicode.Scalar(scalar)?.properties.generalCategory
  }

  private func isOne(of categories: Set<Unicode.GeneralCategory>, _ scalar: UInt32) -> Bool {
    category(of: scalar).map(categories.contains) ?? false
  }

  private static let separators = categories("Z")
  private static let punctuationMarks = categories("P")
  private static let inWords = categories("M").union([.decimalNumber, .connectorPunctuation])

  /// The property named in `\p{...}` or `[:...:]`; nil if the name is unknown.
  init?(name: String) {
    switch name.lowercased() {
    case "alpha", "alphabetic": self = .alphabetic
    case "alnum": self = .alphanumeric
    case "digit": self = .digit
    case "space", "white_space", "whitespace": self = .space
    case "upper", "uppercase": self = .uppercase
    case "lower", "lowercase": self = .lowercase
    case "punct": self = .punctuation
    case "xdigit", "hex_digit": self = .hexDigit
    case "word": self = .word
    case "any": self = .any
    default:
      let categories = Self.categories(name)
      guard !name.isEmpty, !categories.isEmpty else { return nil }
      self = .categories(categories)
    }
  }

  /// Returns the categories whose codes begin with `code`.
  private static func categories(_ code: String) -> Set<Unicode.GeneralCategory> {
    Set(codes.filter { $0.key.utf8.starts(with: code.utf8) }.map(\.value))
  }

  /// The two-letter codes of the Unicode standard.
  private static let codes: [String: Unicode.GeneralCategory] = [
    "Lu": .uppercaseLetter, "Ll": .lowercaseLetter, "Lt": .titlecaseLetter, "Lm": .modifierLetter, "Lo": .otherLetter,
    "Mn": .nonspacingMark, "Mc": .spacingMark, "Me": .enclosingMark, "Nd": .decimalNumber, "Nl": .letterNumber,
    "No": .otherNumber, "Pc": .connectorPunctuation, "Pd": .dashPunctuation, "Ps": .openPunctuation,
    "Pe": .closePunctuation, "Pi": .initialPunctuation, "Pf": .finalPunctuation, "Po": .otherPunctuation,
    "Sm": .mathSymbol, "Sc": .currencySymbol, "Sk": .modifierSymbol, "So": .otherSymbol, "Zs": .spaceSeparator,
    "Zl": .lineSeparator, "Zp": .paragraphSeparator, "Cc": .control, "Cf": .format, "Cs": .surrogate,
    "Co": .privateUse, "Cn": .unassigned,
  ]
}

/// A small expression, like most in schemas, compiled to a table of states. Matching takes one step per byte of an
/// ASCII value and allocates nothing. A state represents the set of instructions that the program would follow in parallel.
struct RegexTable: Sendable {
  private static let mostStates = 64
  private static let dead: Int16 = -1

  private var next: [Int16] = []
  private var accepts: [Bool] = []

  /// Nil if the program has assertions or needs too many states.
  init?(_ program: RegexProgram) {
    let instructions = program.instructions
    guard let start = Self.closure([0], instructions) else { return nil }
    var states = [start]
    var numbers = [start: 0]
    var at = 0
    while at < states.count {
      accepts.append(states[at].contains(instructions.count - 1))
      for byte in UInt32(0)..<128 {
        let reached = states[at].filter {
          if case .set(let set) = instructions[$0] { set.contains(byte) } else { false }
        }
        guard !reached.isEmpty else {
          next.append(Self.dead)
          continue
        }
        guard let target = Self.closure(reached.map { $0 + 1 }, instructions) else { return nil }
        let number = numbers[target] ?? states.count
        if number == states.count {
          guard number < Self.mostStates else { return nil }
          numbers[target] = number
          states.append(target)
        }
        next.append(Int16(number))
      }
      at += 1
    }
  }

  /// Returns the reachable character and final instructions, sorted; nil if an assertion is reachable.
  private static func closure(_ seeds: [Int], _ instructions: [RegexProgram.Instruction]) -> [Int]? {
    var seen: Set<Int> = []
    var stack = seeds
    var found: [Int] = []
    while let state = stack.popLast() {
      guard seen.insert(state).inserted else { continue }
      switch instructions[state] {
      case .jump(let target): stack.append(target)
      case .split(let one, let other): stack += [one, other]
      case .set, .accept: found.append(state)
      case .assert: return nil
      }
    }
    return found.sorted()
  }

  /// Returns whether the whole value matches; nil if matching reaches a non-ASCII byte.
  func matches(_ value: UnsafeBufferPointer<UInt8>) -> Bool? {
    var state = 0
    for index in value.indices {
      let byte = unsafe value[index]
      guard byte < 128 else { return nil }
      let reached = next[state << 7 | Int(byte)]
      // No continuation can match.
      guard reached >= 0 else { return false }
      state = Int(reached)
    }
    return accepts[state]
  }
}
