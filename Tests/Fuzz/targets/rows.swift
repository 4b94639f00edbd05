import BatchFoundation

extension FuzzTarget {
  private static let dialects: [(RowDialect, columns: Int?)] = [
    (RowDialect(), nil), (RowDialect(separator: 0x09, quotes: .inLine), nil), (RowDialect(quotes: .none), nil),
    (RowDialect(escape: UInt8(ascii: "\\")), nil), (RowDialect(quotes: .none, escape: UInt8(ascii: "\\")), 2),
    (.plain(), nil),
  ]

  /// Any bytes as a table in each dialect: the same rows and refusals however they come, in the order of their lines.
  static func rows(_ input: UnsafeBufferPointer<UInt8>) {
    for (form, columns) in dialects {
      let whole = read(input, form, columns, piece: max(input.count, 1))
      precondition(whole == read(input, form, columns, piece: 1) && whole == read(input, form, columns, piece: 5))
      let lines = whole.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
      precondition(zip(lines, lines.dropFirst()).allSatisfy { $0 < $1 })
    }
  }

  private static func read(
    _ input: UnsafeBufferPointer<UInt8>, _ form: RowDialect, _ columns: Int?, piece: Int
  ) -> [String] {
    var found: [String] = []
    var reader = RowReader(form, columns: columns, longest: 512)
    let take: (RowReader.Row) -> Void = { row in
      precondition(row.fault != nil || !row.fields.isEmpty)
      found.append("\(row.line) \(row.offset) \(row.fault ?? "") \(row.fields)")
    }
    for start in stride(from: 0, to: input.count, by: piece) {
      reader.read(Array(input[start..<min(start + piece, input.count)]), take)
    }
    reader.finish(take)
    return found
  }
}
