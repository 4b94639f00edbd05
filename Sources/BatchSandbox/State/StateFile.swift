package import BatchFoundation
import FoundationEssentials

/// The state of the server and its platforms in a JSON file of mode 0600.
final class StateFile: Sendable {
  let path: String
  /// The earliest time of the next regular save, on the monotonic clock.
  private let nextSave = Guarded<UInt64>(0)

  /// - Throws: ``CommandError``, also if something other than a file is at the path.
  init(path: String) throws {
    self.path = path
    let present: FileStatus?
    do throws(SystemError) {
      present = try FileStatus.at(path)
    } catch {
      throw CommandError.cannot("open the file", path, error)
    }
    if let kind = present?.kind, kind != .file {
      throw CommandError(
        .cannotWrite,
        "\(path.printable): error: this is \(kind.rawValue), not a sandbox state file; name another file")
    }
  }

  /// The server's own part of the file.
  private struct Content: Decodable {
    var version: Int
    var clock: Int64?
    var totals: LedgerTotals
  }

  private static let version = 1

  func load(into core: SandboxCore, clock restoresClock: Bool) throws {
    guard let bytes = try contentsIfPresent(of: path) else { return }
    do {
      let content = try JSONDecoder().decode(Content.self, from: Data(bytes))
      guard content.version == Self.version, content.clock.map({ Self.times.contains($0) }) ?? true,
        Self.isWithinReach(try JSONNode.parse(bytes))
      else { throw CommandError.invalidState(path) }
      for platform in core.platforms { try platform.restore(from: bytes) }
      core.desk.withLock { $0.ledger.totals = content.totals }
      if restoresClock, let clock = content.clock { core.time.withLock { $0.now = Instant(milliseconds: clock) } }
    } catch {
      throw CommandError.invalidState(path)
    }
  }

  private static let times = 0...Instant.last.milliseconds

  /// Returns whether numbers outside lists are ``CountedNumber``s. Numbers in lists, such as digests, are only
  /// compared.
  private static func isWithinReach(_ node: JSONNode) -> Bool {
    switch node.value {
    case .object(let members): members.allSatisfy { isWithinReach($0.value) }
    case .array(let elements):
      elements.allSatisfy { if case .number = $0.value { true } else { isWithinReach($0) } }
    case .number: node.integer.map { CountedNumber.range.contains($0) } ?? false
    default: true
    }
  }

  /// Saves the state if a save is due. Saving takes at most a twentieth of the time, so a large state is
  /// saved less often.
  func saveNowAndThen(_ core: SandboxCore) throws {
    let start = MonotonicClock.nanoseconds
    guard nextSave.withLock({ $0 }) <= start else { return }
    try saveIfChanged(core)
    let end = MonotonicClock.nanoseconds
    nextSave.withLock { $0 = end + (end - start) * 20 }
  }

  func saveIfChanged(_ core: SandboxCore) throws {
    let totals: LedgerTotals? = core.desk.withLock { desk in
      guard desk.isChanged else { return nil }
      desk.isChanged = false
      return desk.ledger.totals
    }
    guard let totals else { return }
    do {
      // The time is saved, so that restored data keeps its age.
      var members = [
        "version": "\(Self.version)", "totals": sandboxJSON(totals), "clock": "\(core.time.now.milliseconds)",
      ]
      for platform in core.platforms { members.merge(try platform.savedState()) { _, later in later } }
      try writeFileAtomically(path, Array(sandboxJSON(members: members).utf8))
    } catch {
      core.desk.withLock { $0.isChanged = true }
      throw error
    }
  }
}

/// The range of numbers, such as ids, that the sandbox reads and continues to count from.
package enum CountedNumber {
  /// Small enough that no addition overflows.
  package static let range = 0...Int64(1) << 62
}

extension CommandError {
  package static func invalidState(_ path: String) -> CommandError {
    CommandError(
      .inputOutput,
      "\(path.printable): error: this is not a usable sandbox state file; delete it or name another file")
  }
}
