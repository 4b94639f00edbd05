import BatchConfiguration
package import BatchFoundation

extension RunRequest {
  /// Returns the known time of the run, up to which silence leads to decisions (reference decisions 33). Nil for none.
  ///
  /// - Parameter earlier: the known time of the store, which never goes back; nil if there is none.
  func knownUntil(after earlier: Instant?) -> Instant? {
    if let part { return part.knownUntil }
    if isTest { return job.asOf }
    switch mode {
    case .run, .noUpload, .dryRun:
      let own = job.knownUntil(at: now)
      return earlier.map { max($0, own) } ?? own
    case .post, .replay: return earlier
    case .stream: return job.asOf
    }
  }

  /// Refuses a run that would process states far ahead of the clock.
  ///
  /// - Throws: ``FutureRunError`` before anything is read or written.
  func refuseFuture() throws {
    guard mode.keeps, !usesSandbox, !allowsFuture, part == nil, asOf > now + FutureRunError.margin else { return }
    throw FutureRunError(job: job.file, asOf: asOf, now: now)
  }
}

/// The error of an `asOf` far ahead of the clock: current sessions would be ended.
package struct FutureRunError: RunError, Equatable, CustomStringConvertible {
  /// No mistaken time zone is that far off.
  static let margin = Milliseconds(86_400_000)

  package var job: String
  package var asOf: Instant
  package var now: Instant

  package var exit: RunExit { .configuration }

  package var description: String {
    "\(job.printable): error: asOf is \(asOf.rfc3339), more than a day ahead of the clock (\(now.rfc3339)): all that is silent until then "
      + "would be over for good. Nothing was read or written. Correct asOf or the clock, or add --allow-future if this is meant"
  }
}
