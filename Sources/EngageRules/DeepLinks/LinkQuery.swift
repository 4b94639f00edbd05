import BatchFoundation

/// The parameters of a link's query, in written order (reference deep-links 3 and 6, reference decisions 17). The query
/// is split at `&` and each piece at its first `=`; only then are both sides decoded. `+` is taken literally. Pieces
/// without a name or without a `=` are not parameters.
struct LinkQuery {
  private(set) var parameters: [Attribute] = []

  init(_ query: Text?, into arena: Arena, warnings: inout [LinkWarning]) {
    guard let query else { return }
    for piece in query.split(on: UInt8(ascii: "&")) {
      guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else {
        warnings.add(.bareName, about: piece)
        continue
      }
      let raw = piece.slice(0, equals)
      let rawValue = piece.slice(equals + 1, piece.count)
      guard !raw.isEmpty else {
        warnings.add(.emptyName)
        continue
      }
      let name = PercentDecoding.decode(raw, into: arena)
      let value = PercentDecoding.decode(rawValue, into: arena)
      for flaw in [name.flaw, value.flaw] { warnings.add(flaw, about: name.text) }
      if unsafe piece.bytes.contains(UInt8(ascii: "+")) { warnings.add(.plusSign, about: name.text) }
      if unsafe rawValue.bytes.contains(UInt8(ascii: "=")) { warnings.add(.extraEquals, about: name.text) }
      parameters.append(Attribute(name.text, value.text))
    }
    warnAboutDuplicates(&warnings)
  }

  private func warnAboutDuplicates(_ warnings: inout [LinkWarning]) {
    guard parameters.count > 1 else { return }
    let names = parameters.map(\.name).sorted()
    for index in names.indices.dropFirst() where names[index] == names[index - 1] {
      warnings.add(.duplicateName, about: names[index])
    }
  }
}

extension [Attribute] {
  /// Returns the attributes sorted by the bytes of their names; if a name is repeated, only its last attribute is kept.
  func lastByName() -> [Attribute] {
    if count < 2 { return self }
    let order = indices.sorted { one, other in
      self[one].name == self[other].name ? one < other : self[one].name < self[other].name
    }
    var result: [Attribute] = []
    result.reserveCapacity(count)
    for index in order {
      if result.last?.name == self[index].name { result.removeLast() }
      result.append(self[index])
    }
    return result
  }
}

/// Decodes the percent escapes in a piece of a link (reference deep-links 2).
enum PercentDecoding {
  /// The reason why a piece was left as written.
  enum Flaw: Sendable {
    /// A `%` without two hexadecimal digits after it.
    case badEscape
    /// Escapes that together do not form UTF-8.
    case badUTF8
  }

  /// Returns the decoded text, or the raw text with its flaw. `+` is not decoded. Text without escapes is not copied.
  static func decode(_ raw: Text, into arena: Arena) -> (text: Text, flaw: Flaw?) {
    guard unsafe raw.bytes.contains(percent) else { return (raw, nil) }
    let target = unsafe arena.allocate(raw.count).bindMemory(to: UInt8.self, capacity: raw.count)
    var length = 0
    var index = 0
    while index < raw.count {
      if raw[index] == percent {
        guard index + 2 < raw.count, let high = Hexadecimal.value(of: raw[index + 1]),
          let low = Hexadecimal.value(of: raw[index + 2])
        else {
          return (raw, .badEscape)
        }
        unsafe target[length] = high << 4 | low
        index += 3
      } else {
        unsafe target[length] = raw[index]
        index += 1
      }
      length += 1
    }
    let text = unsafe Text(base: UnsafePointer(target), count: length)
    guard unsafe firstInvalidUTF8(text.bytes) == nil else { return (raw, .badUTF8) }
    return (text, nil)
  }

  private static let percent = UInt8(ascii: "%")
}
