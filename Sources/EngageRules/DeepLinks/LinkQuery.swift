import BatchFoundation

/// The parameters of a link's query, in the order in which they are written (reference deep-links 3 and 6, reference
/// decisions 17).
///
/// The query is split at `&` and each piece at its first `=`; only then are both sides decoded. `+` means itself. Pieces
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
  /// The same in the order of the bytes of the names; of a repeated name the last one.
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
