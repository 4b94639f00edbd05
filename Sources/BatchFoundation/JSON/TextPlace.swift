/// A place in a text: line and column, both from 1; the column counts bytes.
package struct TextPlace: Hashable, Comparable, Sendable {
  // 32 bits each are enough for any document, and a document may have millions of nodes.
  private let lineNumber: UInt32
  private let columnNumber: UInt32

  package init(line: Int, column: Int = 1) {
    lineNumber = UInt32(clamping: line)
    columnNumber = UInt32(clamping: column)
  }

  package var line: Int { Int(lineNumber) }
  package var column: Int { Int(columnNumber) }

  package static func < (one: TextPlace, other: TextPlace) -> Bool {
    (one.line, one.column) < (other.line, other.column)
  }
}

package struct LineStarts: Sendable {
  private let starts: [Int]

  package init(_ bytes: [UInt8]) {
    starts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  package func position(of offset: Int) -> TextPlace {
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return TextPlace(line: low + 1, column: offset - starts[low] + 1)
  }
}
