import BatchPlatform
import DeltaDNAPlatform
import EngagePlatform

extension Platforms {
  /// Those of this program; a store that says nothing of its own is taken for the first one's.
  static let installed = Platforms([EngagePlatform(), DeltaDNAPlatform()])
}
