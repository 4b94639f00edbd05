import FoundationEssentials
import Synchronization

/// The organization in a JSON file of mode 0600.
final class StateFile: Sendable {
  let path: String
  /// When the next regular save may begin, on the monotonic clock.
  private let nextSave = Mutex<UInt64>(0)

  init(path: String) { self.path = path }

  private struct Content: Codable {
    var version = 1
    var clock: Int64?
    var organization: Organization
    var tokens: AccessTokens
    var totals: LedgerTotals
  }

  func load(into core: SandboxCore) throws {
    guard let bytes = try contentsIfPresent(of: path) else { return }
    let content: Content
    do {
      content = try JSONDecoder().decode(Content.self, from: Data(bytes))
    } catch {
      throw StateFileError(path: path)
    }
    core.world.withLock { world in
      let files = world.api.organization.files
      world.api.organization = content.organization
      world.api.organization.files = files
      world.tokens = content.tokens
      world.ledger.totals = content.totals
      if let clock = content.clock { world.api.clock.restore(clock) }
    }
  }

  /// Saves, unless that would take more than a twentieth of the time: a large organization is written less often.
  func saveNowAndThen(_ core: SandboxCore) throws {
    let start = MonotonicClock.nanoseconds
    guard nextSave.withLock({ $0 }) <= start else { return }
    try saveIfChanged(core)
    let end = MonotonicClock.nanoseconds
    nextSave.withLock { $0 = end + (end - start) * 20 }
  }

  func saveIfChanged(_ core: SandboxCore) throws {
    let content: Content? = core.world.withLock { world in
      guard world.isChanged else { return nil }
      world.isChanged = false
      return Content(
        clock: world.api.clock.virtualNow, organization: world.api.organization, tokens: world.tokens,
        totals: world.ledger.totals)
    }
    guard let content else { return }
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      try writeFileAtomically(path, Array(try encoder.encode(content)))
    } catch {
      core.world.withLock { $0.isChanged = true }
      throw error
    }
  }
}

/// The file of `--state` is not one that the sandbox wrote.
package struct StateFileError: Error, Sendable, Equatable, CustomStringConvertible {
  package var path: String

  package init(path: String) { self.path = path }

  package var description: String { "\(path): error: not a state of the sandbox; delete it or name another file" }
}
