/// One step of a run by itself; every pass does the same work on the same input.
protocol Benchmark: AnyObject {
  /// Stands in the table and in the baseline.
  var name: String { get }
  /// What an item is, in the singular.
  var item: String { get }
  /// In one pass.
  var items: Int { get }
  /// What one pass reads or makes; nil where a rate of bytes says nothing.
  var bytes: Int? { get }
  /// Makes ready for the next pass; not measured.
  func prepare() throws
  func pass() throws
}

extension Benchmark {
  func prepare() throws {}
}
