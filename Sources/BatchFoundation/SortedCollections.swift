extension Array {
  /// Sorts stably. Up to 24 elements are sorted by insertion, which is faster when they are nearly sorted.
  @inlinable @inline(__always)
  public mutating func sortNearlySorted(by precedes: (Element, Element) -> Bool) {
    guard count <= 24 else { return sort(by: precedes) }
    for index in indices.dropFirst() where precedes(self[index], self[index - 1]) {
      let element = self[index]
      var place = index
      while place > 0, precedes(element, self[place - 1]) {
        self[place] = self[place - 1]
        place -= 1
      }
      self[place] = element
    }
  }
}

extension RandomAccessCollection {
  /// Returns the index of the first element for which `isBefore` is false, by binary search; `endIndex` if there is
  /// none.
  ///
  /// - Parameter isBefore: must not be true for any element after one for which it is false.
  @inlinable @inline(__always)
  public func place(after isBefore: (Element) -> Bool) -> Index {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
      if isBefore(self[middle]) { low = index(after: middle) } else { high = middle }
    }
    return low
  }
}
