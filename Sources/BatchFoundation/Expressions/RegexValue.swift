/// A value while an expression is matched against it.
struct RegexValue {
  private let scalars: [UInt32]
  /// Whether a word begins or ends before each character and at the end; empty if nobody asks.
  private let wordBoundaries: [Bool]

  init(_ scalars: [UInt32], findsWords: Bool) {
    self.scalars = scalars
    wordBoundaries = findsWords ? Self.wordBoundaries(in: scalars) : []
  }

  /// Whether the condition holds before the character at `index`.
  func satisfies(_ assertion: RegexAssertion, at index: Int) -> Bool {
    switch assertion {
    case .start: index == 0
    case .lineStart: index == 0 || (index < scalars.count && isTerminator(index - 1) && !isInsidePair(index))
    case .end: index == scalars.count
    case .endOrLastTerminator: index == scalars.count || isLastTerminator(index)
    case .lineEnd: index == scalars.count || (isTerminator(index) && !isInsidePair(index))
    case .wordBoundary: wordBoundaries[index]
    case .noWordBoundary: !wordBoundaries[index]
    }
  }

  /// Marks and format characters belong to the character before them, as in ICU.
  private static func wordBoundaries(in scalars: [UInt32]) -> [Bool] {
    var boundaries: [Bool] = []
    boundaries.reserveCapacity(scalars.count + 1)
    var wasWord = false
    for scalar in scalars {
      if RegexProperty.attached.contains(scalar) {
        boundaries.append(false)
      } else {
        let isWord = RegexProperty.word.contains(scalar)
        boundaries.append(isWord != wasWord)
        wasWord = isWord
      }
    }
    boundaries.append(wasWord)
    return boundaries
  }

  private func isTerminator(_ index: Int) -> Bool { RegexProperty.lineTerminator.contains(scalars[index]) }

  /// Between a carriage return and its line feed.
  private func isInsidePair(_ index: Int) -> Bool {
    index > 0 && index < scalars.count && scalars[index - 1] == 0x0D && scalars[index] == 0x0A
  }

  private func isLastTerminator(_ index: Int) -> Bool {
    switch scalars.count - index {
    case 1: isTerminator(index) && !isInsidePair(index)
    case 2: scalars[index] == 0x0D && scalars[index + 1] == 0x0A
    default: false
    }
  }
}
