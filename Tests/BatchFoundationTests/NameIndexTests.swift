import BatchFoundation
import Testing

@Suite struct NameIndexTests {
  /// Names in the order of last time, in another one, left out, unknown, and of another scope with the same names.
  @Test func aTrailFindsWhatTheIndexFinds() {
    var index = NameIndex()
    let one = index.addScope(["alpha", "beta", "gamma", "delta"].enumerated().map { (name: $1, value: $0) })
    let other = index.addScope(["beta", "alpha"].enumerated().map { (name: $1, value: $0 + 7) })
    let rounds: [(NameIndex.Scope, [Text])] = [
      (one, ["alpha", "beta", "gamma"]), (one, ["alpha", "beta", "gamma"]), (other, ["alpha", "beta"]),
      (one, ["gamma", "alpha", "beta"]), (other, ["gamma", "alpha", "beta"]),
      (one, ["alpha", "gamma", "gamm", "delta"]),
      (.empty, ["alpha"]), (other, ["beta", "beta", "beta"]), (one, []),
      (one, ["delta", "", "alpha", "beta", "gamma"]),
    ]
    var trail = NameIndex.Trail(of: index)
    for (scope, names) in rounds {
      var place = trail.start(of: scope)
      for name in names {
        #expect(
          trail.value(of: name, in: scope, of: index, after: &place) == index.value(of: name, in: scope), "\(name)")
      }
    }
  }
}
