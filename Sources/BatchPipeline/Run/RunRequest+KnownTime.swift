import BatchConfiguration
package import BatchFoundation

extension RunRequest {
  /// Until when the run knows what devices did: what only silence decides is decided up to there (reference decisions 33). Nil
  /// decides nothing by silence.
  ///
  /// - Parameter earlier: the known time of the store, which never goes back; nil where there is none.
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

  /// Refuses a run that would leave states decided far ahead of the clock.
  ///
  /// - Throws: ``FutureRunError`` before anything is read or written.
  func refuseFuture() throws {
    guard mode.keeps, !usesSandbox, !allowsFuture, part == nil, asOf > now + FutureRunError.margin else { return }
    throw FutureRunError(job: job.file, asOf: asOf, now: now)
  }
}

/// An `asOf` far ahead of the clock: sessions would be over that are under way.
package struct FutureRunError: RunError, Equatable, CustomStringConvertible {
  /// No zone that was taken for another is that far off.
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
