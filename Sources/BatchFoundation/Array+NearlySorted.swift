extension Array {
  /// Sorts and keeps the order of equal elements. Of few that are nearly sorted each is moved to its place, which beats sorting.
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
