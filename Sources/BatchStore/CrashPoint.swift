import Glibc
import Synchronization

/// Points at which a test can kill the process, to prove that the next run continues from there.
///
/// `ENGAGE_CRASH_AT=<point>:<n>` sends SIGKILL when the point, a raw value, is reached for the n-th time. Without the
/// variable, reaching a point costs a load and a comparison.
package enum CrashPoint: String, CaseIterable, Sendable {
  case beforeLocalCommit = "before-local-commit"
  case afterLocalCommit = "after-local-commit"
  case beforeIntentCommit = "before-intent-commit"
  case afterIntentCommit = "after-intent-commit"
  case afterSend = "after-send"
  case beforeOutcomeCommit = "before-outcome-commit"
  case afterOutcomeCommit = "after-outcome-commit"

  private static let aim: (point: CrashPoint, occurrence: Int)? = {
    guard let value = unsafe getenv("ENGAGE_CRASH_AT") else { return nil }
    let parts = unsafe String(cString: value).split(separator: ":")
    guard parts.count == 2, let point = CrashPoint(rawValue: String(parts[0])), let occurrence = Int(parts[1]) else {
      return nil
    }
    return (point, occurrence)
  }()

  private static let reached = Atomic(0)

  @inline(__always)
  package func reach() {
    guard let aim = Self.aim, aim.point == self else { return }
    if Self.reached.add(1, ordering: .relaxed).newValue == aim.occurrence { kill(getpid(), SIGKILL) }
  }
}
