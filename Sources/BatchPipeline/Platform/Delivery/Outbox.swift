import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
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
  /// - Throws: ``OutboxError``.
  package init(folder: String, form: Int) throws {
    guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw OutboxError(folder: folder, code: errno) }
    do throws(SystemError) {
      guard try FileStatus.at(folder)?.kind == .folder else { throw SystemError(ENOTDIR) }
    } catch {
      throw OutboxError(folder: folder, code: error.code)
    }
    guard unsafe access(folder, W_OK | X_OK) == 0 else { throw OutboxError(folder: folder, code: errno) }
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

/// The error thrown when the outbox folder cannot be created or written to; nothing was changed.
package struct OutboxError: RunError, CustomStringConvertible {
  package var folder: String
  package var code: Int32

  package var exit: RunExit { .cannotWrite }

  package var description: String {
    unsafe "error: cannot write to the 'outbox' folder '\(folder.printable)': \(String(cString: strerror(code)))"
  }
}

extension Platform {
  /// Returns the destination of a run's requests: the sandbox if there is one, otherwise the job's outbox, otherwise
  /// the service.
  ///
  /// - Throws: ``ServiceSettingsError``, ``OutboxError``.
  package func service(of run: RunContext) throws -> any PlatformService {
    guard run.sandboxAddress == nil else { return try connect(run) }
    guard let folder = run.job.outbox else {
      try ServiceSettingsError.refuse(missingSettings(run.settings, for: run.job))
      return try connect(run)
    }
    return try Outbox(folder: folder, form: form(run.settings))
  }
}
