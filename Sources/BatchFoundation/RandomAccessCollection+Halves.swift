extension RandomAccessCollection {
  /// Returns the first index whose element is not `isBefore`, by binary search; `endIndex` if there is none.
  ///
  /// - Parameter isBefore: must not hold for any element after one for which it does not hold.
  @inlinable @inline(__always)
  public func place(behind isBefore: (Element) -> Bool) -> Index {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
      if isBefore(self[middle]) { low = index(after: middle) } else { high = middle }
    }
    return low
  }
}
