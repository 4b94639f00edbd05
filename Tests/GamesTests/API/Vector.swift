import BatchFoundation
import TestSupport

/// A case of `deltadna.json`.
typealias Vector = VectorCase

extension VectorCase {
  /// The cases of an area and a kind.
  static func all(_ area: String, _ kind: String) throws -> [Vector] {
    try Vectors.cases("deltadna", "vectors") { $0["area"]?.string == area && $0["kind"]?.string == kind }
  }
}
