import BatchConfiguration
package import BatchDelivery
import BatchFoundation
package import BatchStore
import FoundationEssentials
import Glibc

/// The folder that receives a job's requests instead of a service (`outbox` of the job).
package struct Outbox: PlatformService {
  private let folder: String
  package let origin: String
  package let destination: any Destination

  /// Creates the folder, accessible only to its owner, unless it exists.
  ///
  /// - Throws: ``CommandError`` if the folder cannot be created or written to.
  package init(folder: String, form: Int) throws {
    do throws(SystemError) {
      guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw SystemError(errno) }
      guard try FileStatus.at(folder)?.kind == .folder else { throw SystemError(ENOTDIR) }
      guard unsafe access(folder, W_OK | X_OK) == 0 else { throw SystemError(errno) }
    } catch {
      throw CommandError(.cannotWrite, "error: cannot write to the 'outbox' folder '\(folder.printable)': \(error)")
    }
    self.folder = folder
    origin = "the folder '\(folder.printable)'"
    destination = FileDestination(folder: folder, form: form) { Hexadecimal.text(of: SHA256.hash($0)) }
  }

  /// Compares the posted chunks of the store with the files in the folder, by the digest of the bytes. A file that
  /// cannot be read counts as missing.
  ///
  /// - Throws: ``StoreError``; ``InterruptedError`` after a signal.
  package func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, into arrivals: inout Arrivals
  ) throws {
    arrivals.explain(.requests, "each posted request must be a file in \(origin) with the same digest")
    let files = FileDestination.Files(in: folder).names
    try store.ledger.forEachPostedChunk { chunk in
      try interruption.check()
      let body = FileDestination.name(Hexadecimal.text(of: chunk.bodyDigest), group: chunk.group)
      let name = files[body] ?? body + ".json"
      let (verdict, detail): (Arrivals.Verdict, String) =
        switch FileManager.default.contents(atPath: "\(folder)/\(name)") {
        case nil: (.missing, "is missing")
        case let bytes? where !SHA256.hash(Array(bytes)).elementsEqual(chunk.bodyDigest):
          (.different, "has different bytes")
        default: (.confirmed, "")
        }
      arrivals.count(verdict, .events, by: chunk.events)
      guard verdict != .confirmed else {
        arrivals.count(.confirmed, .requests)
        return
      }
      arrivals.add(
        Arrivals.Finding(
          verdict, .requests, name, "\(detail) (\(chunk.events.counted("event")) of chunk \(chunk.id))",
          repair: "restore this file; the program does not write it again"))
    }
  }
}

extension Platform {
  /// Returns the destination of a run's requests: the sandbox if there is one, otherwise the job's outbox, otherwise
  /// the service.
  ///
  /// - Throws: ``ServiceSettingsError``, ``CommandError`` for an unusable outbox.
  package func service(of run: RunContext) throws -> any PlatformService {
    guard run.sandboxAddress == nil else { return try connect(run) }
    guard let folder = run.job.outbox else {
      try ServiceSettingsError.refuse(missingSettings(run.settings, for: run.job))
      return try connect(run)
    }
    return try Outbox(folder: folder, form: form(run.settings))
  }
}
