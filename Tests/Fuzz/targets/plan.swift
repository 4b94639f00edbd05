import EngageIdentity
import FoundationEssentials

/// Any bytes as a change plan: the same plan once more after it was written, or an error.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Data(UnsafeBufferPointer(start: start, count: count))
  guard let plan = try? JSONDecoder().decode(IdentityChangePlan.self, from: bytes) else { return 0 }
  guard let written = try? JSONEncoder().encode(plan) else { preconditionFailure("a plan that cannot be written") }
  precondition((try? JSONDecoder().decode(IdentityChangePlan.self, from: written)) == plan)
  return 0
}
