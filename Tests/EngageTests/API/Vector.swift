import BatchFoundation
import Engage
import EngageRules
import TestSupport

/// A case of `engage-xmlapi.json`.
typealias Vector = VectorCase

extension VectorCase {
  static func all(_ key: String, where isWanted: (JSONNode) -> Bool = { _ in true }) throws -> [Vector] {
    try Vectors.cases("engage-xmlapi", key, where: isWanted)
  }
}

func columns(_ node: JSONNode?) -> [ColumnValue] {
  (node?.members ?? []).map { ColumnValue($0.key, $0.value.string ?? "") }
}
