/// Parses the part of ICU's expression grammar that can be matched in linear time.
struct RegexParser {
  let pattern: [Unicode.Scalar]
  var position = 0
  private var flags = Flags()
  private static let deepest = 100

  private struct Flags {
    var ignoresCase = false
    var dotMatchesTerminators = false
    var isMultiline = false
  }

  init(_ pattern: String) { self.pattern = Array(pattern.unicodeScalars) }

  mutating func parse() throws(LinearRegex.Fault) -> RegexNode {
    let tree = try choice(depth: 0)
    guard position == pattern.count else { throw fault("')' has no matching '('") }
    return tree
  }

  var next: Unicode.Scalar? { position < pattern.count ? pattern[position] : nil }

  func fault(_ reason: String, at place: Int? = nil) -> LinearRegex.Fault {
    LinearRegex.Fault(reason: reason, position: (place ?? position) + 1)
  }

  /// Skips `text` and returns true if it is next; otherwise returns false.
  mutating func take(_ text: String) -> Bool {
    guard pattern[position...].starts(with: text.unicodeScalars) else { return false }
    position += text.unicodeScalars.count
    return true
  }

  /// Reads the characters up to `end` or to the end of the expression.
  mutating func name(upTo end: Unicode.Scalar) -> String {
    let start = position
    while let scalar = next, scalar != end { position += 1 }
    return String(String.UnicodeScalarView(pattern[start..<position]))
  }

  // MARK: Structure

  private mutating func choice(depth: Int) throws(LinearRegex.Fault) -> RegexNode {
    guard depth <= Self.deepest else { throw fault("groups are nested more than \(Self.deepest) levels deep") }
    var branches = [try sequence(depth: depth)]
    while take("|") { branches.append(try sequence(depth: depth)) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func sequence(depth: Int) throws(LinearRegex.Fault) -> RegexNode {
    var nodes: [RegexNode] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      if take("\\Q") {
        for literal in quotedLiterals() { nodes.append(.set(set(for: literal))) }
        guard let last = nodes.popLast() else { continue }
        nodes.append(try quantified(last))
      } else if let atom = try atom(depth: depth) {
        nodes.append(try quantified(atom))
      }
    }
    return nodes.count == 1 ? nodes[0] : nodes.isEmpty ? .empty : .sequence(nodes)
  }

  /// Reads the literal characters up to and including `\E`, or up to the end of the expression.
  private mutating func quotedLiterals() -> [Unicode.Scalar] {
    var literals: [Unicode.Scalar] = []
    while let scalar = next, !take("\\E") {
      literals.append(scalar)
      position += 1
    }
    return literals
  }

  /// Reads one atom; returns nil for a comment or a change of flags, which matches nothing.
  private mutating func atom(depth: Int) throws(LinearRegex.Fault) -> RegexNode? {
    guard let scalar = next else { return nil }
    let start = position
    position += 1
    switch scalar {
    case "(": return try group(depth: depth, from: start)
    case "[": return .set(try bracketClass(depth: 0, from: start))
    case "\\": return try escape(from: start)
    case ".":
      if flags.dotMatchesTerminators { return .set(RegexSet([.property(.any, isNegated: false)])) }
      return .set(RegexSet([.property(.lineTerminator, isNegated: true)]))
    case "^": return .assertion(flags.isMultiline ? .lineStart : .start)
    case "$": return .assertion(flags.isMultiline ? .lineEnd : .endOrLastTerminator)
    case "*", "+", "?": throw fault("'\(scalar)' has nothing to repeat", at: start)
    case "{": throw fault("'{' has nothing to repeat; for a literal brace, write '\\{'", at: start)
    default: return .set(set(for: scalar))
    }
  }

  private mutating func group(depth: Int, from start: Int) throws(LinearRegex.Fault) -> RegexNode? {
    let outer = flags
    if take("?#") {
      while let scalar = next, scalar != ")" { position += 1 }
      guard take(")") else { throw fault("'(' is never closed", at: start) }
      return nil
    }
    if take("?=") || take("?!") || take("?<=") || take("?<!") {
      throw fault("look-around is not supported", at: start)
    }
    if take("?>") { throw fault("atomic groups are not supported", at: start) }
    if take("?<") {
      try groupName(from: start)
    } else if take("?"), !take(":") {
      guard try readFlags(from: start) else { return nil }
    }
    let inner = try choice(depth: depth + 1)
    guard take(")") else { throw fault("'(' is never closed", at: start) }
    flags = outer
    return inner
  }

  private mutating func groupName(from start: Int) throws(LinearRegex.Fault) {
    let name = position
    while let scalar = next, scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
      position += 1
    }
    guard position > name, take(">") else { throw fault("the group name is not valid", at: start) }
  }

  /// Reads the flags of `(?i)` or `(?i:`. Returns false for the former, which applies to the end of the
  /// enclosing group.
  private mutating func readFlags(from start: Int) throws(LinearRegex.Fault) -> Bool {
    var isOn = true
    while let scalar = next {
      position += 1
      switch scalar {
      case "i": flags.ignoresCase = isOn
      case "s": flags.dotMatchesTerminators = isOn
      case "m": flags.isMultiline = isOn
      case "-" where isOn: isOn = false
      case ":": return true
      case ")": return false
      default: throw fault("the flag '\(scalar)' is not supported", at: position - 1)
      }
    }
    throw fault("'(' is never closed", at: start)
  }

  // MARK: Repetition

  private mutating func quantified(_ node: RegexNode) throws(LinearRegex.Fault) -> RegexNode {
    let place = position
    let least: Int
    let most: Int?
    if take("*") {
      (least, most) = (0, nil)
    } else if take("+") {
      (least, most) = (1, nil)
    } else if take("?") {
      (least, most) = (0, 1)
    } else if take("{") {
      (least, most) = try interval(from: place)
    } else {
      return node
    }
    // Whether the whole value matches does not depend on greediness.
    _ = take("?")
    if next == "+" { throw fault("possessive quantifiers are not supported") }
    if next == "*" || next == "?" || next == "{" { throw fault("a quantifier cannot follow another quantifier") }
    return .repeated(node, least: least, most: most)
  }

  private mutating func interval(from place: Int) throws(LinearRegex.Fault) -> (Int, Int?) {
    guard let least = number() else { throw fault("a number is missing after '{'") }
    guard take(",") else {
      guard take("}") else { throw fault("the quantifier is not valid", at: place) }
      return (least, least)
    }
    if take("}") { return (least, nil) }
    guard let most = number(), take("}") else { throw fault("the quantifier is not valid", at: place) }
    guard least <= most else { throw fault("the limits of a quantifier are reversed", at: place) }
    return (least, most)
  }

  private mutating func number() -> Int? {
    var value: Int?
    while let scalar = next, ("0"..."9").contains(scalar) {
      value = min((value ?? 0) * 10 + Int(scalar.value - 0x30), 1 << 20)
      position += 1
    }
    return value
  }

  // MARK: Characters

  func set(for scalar: Unicode.Scalar) -> RegexSet {
    let spellings = [scalar.value] + (flags.ignoresCase ? caseVariants(of: scalar.value) : [])
    return RegexSet(spellings.map { .range($0...$0) }, ignoresCase: flags.ignoresCase)
  }

  private mutating func escape(from start: Int) throws(LinearRegex.Fault) -> RegexNode {
    if let assertion = next.flatMap({ Self.assertionEscapes[$0] }) {
      position += 1
      return .assertion(assertion)
    }
    switch try escapedCharacters(from: start) {
    case .property(let property, let isNegated): return .set(set(of: property, isNegated: isNegated))
    case .scalar(let scalar): return .set(set(for: scalar))
    }
  }

  /// Adds case variants before negating, as ICU does: if case is ignored, `\p{Lu}` matches every letter with an
  /// upper-case variant, and `\P{Lu}` every other character.
  private func set(of property: RegexProperty, isNegated: Bool) -> RegexSet {
    RegexSet([.property(property, isNegated: false)], isNegated: isNegated, ignoresCase: flags.ignoresCase)
  }

  private static let assertionEscapes: [Unicode.Scalar: RegexAssertion] = [
    "A": .start, "z": .end, "Z": .endOrLastTerminator, "b": .wordBoundary, "B": .noWordBoundary,
  ]

  /// Reads the rest of a bracket class after its `[`.
  private mutating func bracketClass(depth: Int, from start: Int) throws(LinearRegex.Fault) -> RegexSet {
    guard depth <= Self.deepest else {
      throw fault("classes are nested more than \(Self.deepest) levels deep", at: start)
    }
    let isNegated = take("^")
    var parts: [RegexSet.Part] = []
    var isFirst = true
    while let scalar = next {
      let place = position
      if scalar == "]", !isFirst {
        position += 1
        return RegexSet(parts, isNegated: isNegated, ignoresCase: flags.ignoresCase)
      }
      isFirst = false
      if take("&&") || take("--") { throw fault("set operations in classes are not supported", at: place) }
      if take("[:") {
        parts.append(try posixClass(from: place))
      } else if take("[") {
        parts.append(.set(try bracketClass(depth: depth + 1, from: place)))
      } else {
        parts.append(try rangeOrCharacter(from: place))
      }
    }
    throw fault("'[' is never closed", at: start)
  }

  private mutating func posixClass(from place: Int) throws(LinearRegex.Fault) -> RegexSet.Part {
    let isNegated = take("^")
    guard let property = RegexProperty(name: name(upTo: ":")), take(":]") else {
      throw fault("'[:' does not begin a known class", at: place)
    }
    return .set(set(of: property, isNegated: isNegated))
  }

  private mutating func rangeOrCharacter(from place: Int) throws(LinearRegex.Fault) -> RegexSet.Part {
    let low: Unicode.Scalar
    switch try classCharacter(from: place) {
    case .property(let property, let isNegated): return .set(set(of: property, isNegated: isNegated))
    case .scalar(let scalar): low = scalar
    }
    guard next == "-", position + 1 < pattern.count, pattern[position + 1] != "]", pattern[position + 1] != "-",
      pattern[position + 1] != "["
    else { return .range(low.value...low.value) }
    position += 1
    guard case .scalar(let high) = try classCharacter(from: position), low.value <= high.value else {
      throw fault("the end of a range must be a single character, and not before its start", at: place)
    }
    return .range(low.value...high.value)
  }

  private mutating func classCharacter(from place: Int) throws(LinearRegex.Fault) -> EscapedCharacters {
    guard let scalar = next else { throw fault("'[' is never closed", at: place) }
    position += 1
    guard scalar == "\\" else { return .scalar(scalar) }
    if take("b") { throw fault("'\\b' has no meaning in a class", at: place) }
    return try escapedCharacters(from: place)
  }
}
