extension Measurement {
  private static let widths = [14, 10, 8, 12, 10, 14, 14, 12]

  static let heading = line(["", "item", "items", "ns/item", "MB/s", "allocs/item", "bytes/item", "peak kB"])

  /// The figures in the columns of ``heading``.
  var row: String {
    let count = Double(items)
    return Self.line([
      name, item, "\(items)", (nanoseconds / count).fixed(1),
      bytes.map { (Double($0) * 1e3 / nanoseconds).fixed(0) } ?? "",
      (Double(allocations) / count).fixed(4), (Double(allocatedBytes) / count).fixed(1),
      (Double(peak) / 1e3).fixed(0),
    ])
  }

  /// The first two columns start at their left edge, figures end at their right one.
  private static func line(_ columns: [String]) -> String {
    zip(columns, widths).enumerated().map { place, column in
      let (text, width) = column
      let space = String(repeating: " ", count: max(1, width - text.utf8.count))
      return place < 2 ? text + space : space + text
    }.joined()
  }
}

extension AllocationBaseline.Excess {
  func description(for item: String) -> String {
    switch self {
    case .notRecorded: "not recorded yet"
    case .otherItems(let recorded): "recorded with \(recorded) items, its input was changed"
    case .allocations(let recorded, let measured):
      "\(measured.fixed(4)) allocations for each \(item), recorded \(recorded.fixed(4))"
    case .bytes(let recorded, let measured):
      "\(measured.fixed(1)) bytes allocated for each \(item), recorded \(recorded.fixed(1))"
    }
  }
}

extension Double {
  /// With that many digits behind the point, at most nine.
  fileprivate func fixed(_ digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((self * Double(scale)).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = String(scaled % scale)
    return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.utf8.count) + fraction
  }
}
