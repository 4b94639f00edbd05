import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchStore
import BatchWire

extension EngageConnection {
  /// Passes `body` a reconciler whose calls and pauses end on a signal; the journal allows continuing.
  ///
  /// - Throws: ``InterruptedError`` after a signal, whatever the result of `body`.
  func reconciling<Value>(
    _ store: EventStore, _ run: RunID, _ interruption: Interruption,
    note: @escaping @Sendable (String) -> Void, _ body: (IdentityReconciler) throws -> Value
  ) throws -> Value {
    let settings = context.settings
    let cancellation = HTTPCancellation()
    let isSimulated = recipients != nil
    let pause: @Sendable (Milliseconds) -> Void = { RetryPolicy.rest($0) { isSimulated || cancellation.isCancelled } }
    let database = ServiceDatabase(settings, service, cancellation: cancellation, pause: pause)
    var retryPolicy = RetryPolicy(settings, pause: pause)
    let notes = RetryNotes(note)
    retryPolicy.announce = { notes.announce($0, $1) }
    var reconciler = IdentityReconciler(
      store: store, remote: recipients ?? database, settings: IdentitySettings(settings), retryPolicy: retryPolicy,
      run: run,
      now: context.asOf)
    reconciler.shouldEnd = { cancellation.isCancelled }
    reconciler.isSandbox = context.sandboxAddress != nil
    reconciler.transfer = database.transfer(settings, retryPolicy)
    let result = Result { try interruption.during({ try body(reconciler) }, end: { cancellation.cancel() }) }
    try interruption.check()
    return try result.get()
  }
}
