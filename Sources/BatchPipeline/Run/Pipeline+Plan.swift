import BatchConfiguration
import BatchFoundation
import BatchHTTP
import BatchIngest
import BatchPlatform
import BatchStore
import Crypto
import EngageAPI
import EngageIdentity
import FoundationEssentials
import Glibc

/// A file that is no plan of `--online-plan`.
package struct PlanFileError: Error, Equatable, CustomStringConvertible {
  package var path: String

  package var description: String { "\(path): error: no plan of this release; make one with --dry-run --online-plan" }
}

extension Pipeline {
  /// Hands `body` a reconciler whose calls and pauses end when a signal comes: the journal says how to go on.
  ///
  /// - Throws: ``InterruptedError`` after a signal, whatever `body` made of it.
  func withReconciler<Value>(
    _ service: EngageService, _ store: EventStore, _ run: RunID, _ body: (IdentityReconciler) throws -> Value
  ) throws -> Value {
    let cancellation = HTTPCancellation()
    let pause: @Sendable (Milliseconds) -> Void = { Patience.rest($0) { cancellation.isCancelled } }
    let list = request.settings.general.listId
    var reconciler = IdentityReconciler(
      store: store,
      remote: ServiceDatabase(service: service, list: list, cancellation: cancellation, pause: pause),
      settings: IdentitySettings(request.settings), patience: .of(request.settings, pause: pause), run: run,
      now: request.asOf)
    reconciler.shouldEnd = { cancellation.isCancelled }
    if let folder = request.settings.recipient.transferFolder {
      reconciler.transfer = ListTransfer(
        service: service, list: list, folder: TransferFolder(path: folder), cancellation: cancellation, pause: pause)
    }
    let result = Result { try interruption.during({ try body(reconciler) }, end: { cancellation.cancel() }) }
    try interruption.check()
    return try result.get()
  }

  /// Writes what a run would change at the service, which is only read.
  ///
  /// - Parameter rehearsal: a store in memory with the set-ups and checks of this dry run.
  func writePlan(to path: String, _ rehearsal: EventStore, _ files: InputFiles) throws {
    let service = try EngageService.of(request)
    monitor.note("Identity: planning with \(service.address.origin)")
    let run = try rehearsal.beginRun(
      job: request.job.name, configurationDigest: request.configurationDigest, started: request.now,
      asOf: request.asOf)
    let digest = try inputDigest(files)
    let proposal = try withReconciler(service, rehearsal, run) { try $0.propose(inputs: digest) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try OutputFile(path).write(String(decoding: encoder.encode(proposal), as: UTF8.self) + "\n")
    let recipients = Set(proposal.changes.map { ByteText($0.target) }).count
    monitor.note("Identity: \(proposal.changes.count) fields of \(recipients) records would change")
  }

  /// The plan of the request, if it rests on these inputs; nil if none is to be followed.
  ///
  /// - Throws: ``ProposalMismatch`` before anything is written.
  func readPlan(_ files: InputFiles) throws -> IdentityProposal? {
    guard let path = request.planFile else { return nil }
    let bytes = try InputBytes.read(path)
    let proposal: IdentityProposal
    do {
      proposal = try JSONDecoder().decode(IdentityProposal.self, from: Data(bytes))
    } catch {
      throw PlanFileError(path: path)
    }
    guard try proposal.inputs == inputDigest(files) else { throw ProposalMismatch(difference: .inputs) }
    return proposal
  }

  /// Of job, configuration and every byte of the inputs.
  func inputDigest(_ files: InputFiles) throws -> String {
    var hash = SHA256()
    hash.update(data: Array("\(request.job.name)\n\(request.configurationDigest)\n".utf8))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    for input in files.files {
      hash.update(data: input.path.bytes + [0, input.kind.rawValue])
      let file = open(input.path.description, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { throw MissingFileError(path: input.path.description) }
      defer { close(file) }
      while true {
        let count = read(file, buffer.baseAddress, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw MissingFileError(path: input.path.description) }
        if count == 0 { break }
        hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
    return hash.finalize().map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
  }
}
