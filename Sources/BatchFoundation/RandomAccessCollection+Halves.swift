extension RandomAccessCollection {
  /// The place of the first element that is not before something, found by halves; the end if all are.
  ///
  /// - Parameter isBefore: holds for none behind one for which it does not hold.
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
