import BatchFoundation

/// Numbers in texts as people write them: `1.234,5`, `-12,00`, `1 234.5`.
enum DecimalComma {
  private static let groupings = [".", ",", " ", "'", "\u{A0}", "\u{202F}", "\u{2019}"].map { Array($0.utf8) }

  /// As JSON writes it; nil for what is no such number.
  ///
  /// - Parameter decimal: what stands before the fraction. Before it groups of three digits may have one sign of their own between them.
  static func plain(_ text: Text, _ decimal: UInt8) -> [UInt8]? {
    let bytes = (0..<text.count).map { text[$0] }
    let whole = bytes.prefix { $0 != decimal }
    let fraction = bytes.dropFirst(whole.count + 1)
    guard let isDigit = whole.firstIndex(where: { 0x30...0x39 ~= $0 }) else { return nil }
    let rest = whole[isDigit...].drop { 0x30...0x39 ~= $0 }
    let sign = groupings.first { $0 != [decimal] && rest.starts(with: $0) }
    var groups: [ArraySlice<UInt8>] = [whole[isDigit...].dropLast(rest.count)]
    var left = rest
    while let sign, left.starts(with: sign), !left.isEmpty {
      groups.append(left.dropFirst(sign.count).prefix(3))
      left = left.dropFirst(sign.count + 3)
    }
    guard left.isEmpty, groups.count == 1 || groups[0].count <= 3, groups.dropFirst().allSatisfy({ $0.count == 3 })
    else { return nil }
    return whole[..<isDigit] + groups.joined() + (whole.count < bytes.count ? [UInt8(ascii: ".")] + fraction : [])
  }
}
