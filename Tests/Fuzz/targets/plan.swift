import Engage
import FoundationEssentials

extension FuzzTarget {
  /// Any bytes as a change plan: the same plan once more after it was written, or an error.
  static func plan(_ input: UnsafeBufferPointer<UInt8>) {
    let bytes = Data(input)
    guard let plan = try? JSONDecoder().decode(IdentityChangePlan.self, from: bytes) else { return }
    guard let written = try? JSONEncoder().encode(plan) else { preconditionFailure("a plan that cannot be written") }
    precondition((try? JSONDecoder().decode(IdentityChangePlan.self, from: written)) == plan)
  }
}
