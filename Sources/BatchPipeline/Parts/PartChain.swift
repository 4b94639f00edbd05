import BatchFoundation
import BatchStore

/// The numbers of lines in parts, by whether a store already knows them (reference decisions 35).
struct BroughtLines: Equatable {
  var known = 0
  var new = 0

  /// - Parameter folders: results with verified stores.
  init(_ folders: [ResultFolder], to store: EventStore) throws {
    for folder in folders {
      try folder.reading(store.format) { part in
        try part.timelines.forEachOwnDigestSegment { segment in
          let here = try LineDigest.merged(
            store.timelines.knownDigests(bucket: segment.bucket, from: segment.first, to: segment.last))
          let lines = LineDigest.merged([segment])
          let known = Self.count(of: lines, among: here)
          self.known += known
          new += lines.count - known
        }
      }
    }
  }

  /// Returns the number of lines that the two ascending lists have in common.
  private static func count(of lines: [LineDigest], among here: [LineDigest]) -> Int {
    var (count, place) = (0, 0)
    for line in lines {
      while place < here.count, here[place] < line { place += 1 }
      if place < here.count, here[place] == line { count += 1 }
    }
    return count
  }
}

/// The relation of results to the parts already collected in a store. Parts are recognized by their lines, not by the
/// way the inputs were partitioned (reference decisions 35).
enum ChainPlace: Equatable {
  /// The parts in `here` are already in the store; those in `reported` are also included in its figures. Other parts
  /// are added.
  case next(here: Set<Int>, reported: Set<Int>)
  /// The store already has every line, from other parts; nothing is added.
  case known(lines: Int)

  /// - Parameters:
  ///   - folders: results of one partition, processed with the same settings.
  ///   - beginsChain: whether a partition that does not continue the last one may be added.
  ///   - note: receives notes about changes that do not break the chain.
  /// - Throws: ``PartsError`` if the parts do not continue the collected ones.
  init(_ folders: [ResultFolder], in store: EventStore, beginsChain: Bool, note: (String) -> Void) throws {
    guard let result = folders.first?.result else {
      self = .next(here: [], reported: [])
      return
    }
    func refuse(_ problem: String) -> PartsError { PartsError(path: store.path, problem: problem) }
    let chain = try store.parts.partitions()
    if let present = chain.first(where: { $0.identity.utf8.elementsEqual(result.partition.utf8) }) {
      guard present.configuration.utf8.elementsEqual(result.configuration.utf8) else {
        throw try refuse(
          "the store has parts of this partition that were processed with different settings\(store.difference(present.configuration, folders)). "
            + (present.missing.isEmpty
              ? "All its parts are already collected, so these are not needed"
              : "Decide these parts with the same settings, or decide all parts again after '\(store.dropCommand)'"))
      }
      let here = Set(present.here)
      let lines = try BroughtLines(folders.filter { !here.contains($0.result.part) }, to: store)
      guard lines.known == 0 else { throw refuse(Self.words(lines, chain.last, store)) }
      self = .next(here: here, reported: present.reported)
      return
    }
    let lines = try BroughtLines(folders, to: store)
    let last = chain.last
    let continues =
      last.map { $0.identity.utf8.elementsEqual((result.previousPartition ?? "").utf8) }
      ?? (result.previousPartition == nil)
    if lines.new == 0, lines.known > 0 || !continues {
      self = .known(lines: lines.known)
      return
    }
    guard lines.known == 0 else { throw refuse(Self.words(lines, last, store)) }
    if let last, !last.missing.isEmpty {
      throw refuse(
        "\(lines.new.counted("line")) would be added from another partition while parts of partition \(last.shown) are missing: "
          + "\(last.missing.listed). Decide and collect those first, or drop the collected parts: \(store.dropCommand)")
    }
    if !continues, !beginsChain { throw refuse(Self.words(lines, after: result.previousPartition, chain)) }
    if let last {
      if continues, let states = result.previousConfiguration, !states.utf8.elementsEqual(last.configuration.utf8) {
        throw refuse(
          "these parts continue states of partition \(last.shown) that were computed with different settings than the "
            + "collected results. Decide them again, with --state-in naming the collected results")
      }
      if !last.configuration.utf8.elementsEqual(result.configuration.utf8) {
        note(
          "Settings: this partition was processed with different settings than the previous one"
            + (try store.difference(last.configuration, folders)))
      }
    }
    self = .next(here: [], reported: [])
  }

  private static func words(_ lines: BroughtLines, _ last: CollectedPartition?, _ store: EventStore) -> String {
    let counts =
      "\(lines.known.counted("line")) of these parts \(lines.known == 1 ? "is" : "are") already in the store and \(lines.new.grouped) \(lines.new == 1 ? "is" : "are") new, "
      + "so some events would be sent twice; nothing was collected. "
    guard let last else { return counts }
    if !last.missing.isEmpty {
      return counts
        + "Partition \(last.shown) is missing parts: \(last.missing.listed). Decide and collect those, or drop the "
        + "collected parts: \(store.dropCommand)"
    }
    return counts + last.remedy
  }

  private static func words(_ lines: BroughtLines, after previous: String?, _ chain: [CollectedPartition]) -> String {
    let isNew = lines.new == 1 ? "which is not" : "none of which is"
    let new = "these parts have \(lines.new.counted("line")), \(isNew) in the store; nothing was collected. "
    let purpose = " To start a new chain, in which devices begin without states: --new-chain"
    guard let last = chain.last else {
      return new
        + "These parts continue partition \((previous ?? "").shownIdentity), but no partition was collected here. Collect "
        + "the partitions up to and including that one first, in order." + purpose
    }
    guard let previous else {
      return new
        + "They were partitioned without --after, but \(chain.count.counted("partition was", "partitions were")) already collected here. "
        + last.remedy + purpose
    }
    if let place = chain.firstIndex(where: { $0.identity.utf8.elementsEqual(previous.utf8) }) {
      let later = chain.count - 1 - place
      return new
        + "They continue partition \(previous.shownIdentity), after which \(later.counted("partition was", "partitions were")) "
        + "collected here. " + last.remedy + purpose
    }
    return new
      + "They continue partition \(previous.shownIdentity), which was not collected here: collect it first. The last one "
      + "collected is \(last.shown)." + purpose
  }
}

extension CollectedPartition {
  /// The start of the partition's identity, long enough to find its manifest.
  var shown: String { identity.shownIdentity }

  fileprivate var remedy: String {
    "The last one collected is \(shown) (the start of the SHA-256 of its manifest.json): partition these inputs into "
      + "\(parts.counted("part")), with --after naming that partition, and decide them with --state-in naming its results: engage-batch partition JOB --parts \(parts) --after FOLDER --out NEW."
  }
}

extension String {
  fileprivate var shownIdentity: String { String(prefix(12)) }
}

extension EventStore {
  /// The command that removes an incomplete partition from the store.
  var dropCommand: String { "engage-batch store drop-partition --store \(path.printable)" }

  /// Returns the names of the settings that differ, formatted as the end of a message; empty if a store lacks the
  /// settings for its digest.
  fileprivate func difference(_ digest: String, _ folders: [ResultFolder]) throws -> String {
    guard let folder = folders.first else { return "" }
    let theirs = try folder.reading(format) { try Self.values($0.runs.settings(digest: folder.result.configuration)) }
    let ours = try Self.values(runs.settings(digest: digest))
    let names = Set(ours.keys).union(theirs.keys).filter { ours[$0] != theirs[$0] }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    guard !names.isEmpty, !ours.isEmpty, !theirs.isEmpty else { return "" }
    return ": " + names.prefix(10).joined(separator: ", ") + (names.count > 10 ? " and more" : "")
  }

  private static func values(_ settings: [RunSetting]) -> [String: ByteText] {
    Dictionary(settings.map { ($0.name, ByteText($0.value)) }) { $1 }
  }
}
