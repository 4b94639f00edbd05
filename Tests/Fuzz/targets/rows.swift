import BatchIngest

@testable import BatchMaps

extension FuzzTarget {
  private static let dialects: [TableForm] = [
    TableForm(), TableForm(separator: 0x09, quotes: .inLine), TableForm(quotes: .none),
    TableForm(escape: UInt8(ascii: "\\")), TableForm(columns: ["a", "b"], quotes: .none, escape: UInt8(ascii: "\\")),
  ]

  /// Any bytes as a table in each dialect: the same rows and refusals however they come, in the order of their lines.
  static func rows(_ input: UnsafeBufferPointer<UInt8>) {
    for form in dialects {
      let whole = read(input, form, piece: max(input.count, 1))
      precondition(whole == read(input, form, piece: 1) && whole == read(input, form, piece: 5))
      let lines = whole.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
      precondition(zip(lines, lines.dropFirst()).allSatisfy { $0 < $1 })
    }
  }

  private static func read(_ input: UnsafeBufferPointer<UInt8>, _ form: TableForm, piece: Int) -> [String] {
    var found: [String] = []
    var reader = RowReader(form, longest: 512)
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
