/// Where the lines of a document start, for messages with many places.
package struct LineStarts: Sendable {
  private let starts: [Int]

  package init(_ bytes: [UInt8]) {
    starts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  /// Line and column of an offset, both from 1; the column counts bytes.
  package func position(of offset: Int) -> (line: Int, column: Int) {
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle } else { high = middle }
    }
    return (low + 1, offset - starts[low] + 1)
  }
}
