import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchReport
package import BatchStore

/// The service of a run: the destination of its events, and the work before and after sending them.
package protocol PlatformService: Sendable {
  /// The name of the service in messages: scheme, host and port, or a folder.
  var origin: String { get }

  var destination: any Destination { get }

  /// Does the work required before events are sent, such as identifying recipients.
  ///
  /// - Throws: an error that ends the run; ``InterruptedError`` after a signal.
  func beforeDelivery(_ stage: inout ServiceStage) throws

  /// Makes the calls that are possible only after sending, such as querying which events the service refused
  /// later. Notes failed calls in the report; throws only ``StoreError``.
  func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws

  /// Compares the data that the service should have, according to the store, with the data that it reports
  /// (`verify`); changes neither.
  ///
  /// - Throws: ``CommandError`` if the service cannot be queried, ``StoreError``; ``InterruptedError`` after a signal.
  func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, into arrivals: inout Arrivals) throws
}

extension PlatformService {
  package func compare(
    _ store: EventStore, _ names: ArrivalNames, _ interruption: Interruption, into arrivals: inout Arrivals
  ) throws {
    arrivals.count(.taken, .events, by: try store.ledger.statusCounts()[.successfullyPosted, default: 0])
    arrivals.explain(.events, "the destination cannot report which events it has")
  }

  package func beforeDelivery(_ stage: inout ServiceStage) throws {}

  package func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws {}
}

/// A service that can plan a run's changes and carry out exactly that plan (`--online-plan`, `--plan`). Functions throw
/// ``StoreError``, the failure of a call that ended the work, and ``InterruptedError`` after a signal.
package protocol ChangePlanning: PlatformService {
  /// Returns an in-memory store for a trial run, with the data of `store` that affects changes.
  ///
  /// - Parameter store: nil if there is no store yet.
  func planningStore(of store: EventStore?) throws -> EventStore

  /// Returns the changes that a run would make to the service's data; it only reads from the service.
  ///
  /// - Parameters:
  ///   - inputs: the digest of everything that the plan depends on; part of its document.
  ///   - stage: the stage of a run that is only planned.
  func plan(inputs: String, _ stage: inout ServiceStage) throws -> ChangePlan

  /// Returns the same service, limited to a plan: it makes either exactly the changes of the plan or none.
  ///
  /// - Parameters:
  ///   - document: the document that ``plan(inputs:_:)`` made.
  ///   - file: the name of the document in messages.
  ///   - inputs: the digest of everything that this run depends on.
  /// - Throws: an error if the document is not a plan, or depends on different inputs.
  func following(_ document: [UInt8], file: String, inputs: String) throws -> any PlatformService
}

package struct ChangePlan: Sendable {
  /// The document for ``ChangePlanning/following(_:file:inputs:)``; it ends with a line ending.
  package var document: String
  /// One sentence to show to the user.
  package var summary: String

  package init(document: String, summary: String) {
    self.document = document
    self.summary = summary
  }
}

/// The data that a platform may use and change before and after a delivery.
package struct ServiceStage {
  package let store: EventStore
  package let run: RunID
  package let interruption: Interruption
  /// Shows a message to the user; may be called on any thread.
  package let note: @Sendable (String) -> Void
  package var report: RunReport
  /// The platform's figures for the summary (`Platform.add`).
  package var figures: [String: Int] = [:]
  /// The exit of the run if nothing else fails.
  package var exit = RunExit.done
  /// Whether to skip sending events because requests would be useless.
  package var skipsDelivery = false
}

/// The error thrown when the configured service cannot be called, or does not match the configuration; nothing was
/// written. Each problem names the setting to change.
package struct ServiceSettingsError: RunError, Equatable, CustomStringConvertible {
  package var problems: [String]

  package init(problems: [String]) { self.problems = problems }

  package var exit: RunExit { .configuration }

  package var description: String { problems.map { "error: \($0)" }.joined(separator: "\n") }

  /// - Throws: ``ServiceSettingsError`` if something is missing.
  package static func refuse(_ missing: [MissingSetting]) throws {
    if !missing.isEmpty { throw ServiceSettingsError(problems: missing.map(\.description)) }
  }
}

/// A missing setting without which a service cannot be called. It ends runs with an error, and job validation
/// reports it.
package struct MissingSetting: Sendable, Equatable, CustomStringConvertible {
  /// The name, such as `Connection.baseUrl`.
  package var name: String
  package var variable: String
  /// The part of the job that requires it; nil if every call needs it, independent of the job.
  package var cause: String?

  /// - Parameter isMissing: whether the setting is missing; otherwise the result is nil.
  package init?(_ name: String, _ variable: String, cause: String? = nil, if isMissing: Bool) {
    guard isMissing else { return nil }
    self.name = name
    self.variable = variable
    self.cause = cause
  }

  /// The environment variable in words; for a secret, the variable with the path of a file.
  package var carrier: String {
    let isSecret = SettingsSchema.current.settings(matching: name).contains(where: \.isSecret)
    return isSecret ? "\(variable)_FILE (the path of a file that contains it)" : variable
  }

  package var description: String {
    "\(name) is not set\(cause.map { ", but \($0)" } ?? ""); set it, or \(carrier), or run with --sandbox"
  }
}
