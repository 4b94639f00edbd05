import BatchConfiguration
package import BatchDelivery
package import BatchFoundation
package import BatchReport
package import BatchStore

/// The service of a platform, as one run talks to it.
package protocol PlatformService: Sendable {
  /// Scheme, host and port, for messages.
  var origin: String { get }

  var destination: any Destination { get }

  /// Does what has to be done before events are sent, such as finding out who is who.
  ///
  /// - Throws: what ends the run; ``InterruptedError`` after a signal.
  func beforeDelivery(_ stage: inout ServiceStage) throws

  /// Asks what can be asked once events were sent, such as which of them the service refused later.
  func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws
}

extension PlatformService {
  package func beforeDelivery(_ stage: inout ServiceStage) throws {}

  package func afterDelivery(_ report: DeliveryReport, _ stage: inout ServiceStage) throws {}
}

/// A service that can tell beforehand what a run would change there, and be held to it (`--online-plan`, `--plan`).
package protocol ChangePlanning: PlatformService {
  /// A store in memory with what a store knows that decides about changes, to try a run out in.
  ///
  /// - Parameter store: nil when there is none yet.
  func planningStore(of store: EventStore?) throws -> EventStore

  /// What a run would change at the service, which is only read.
  ///
  /// - Parameters:
  ///   - inputs: digest of everything that the plan rests on; part of its document.
  ///   - stage: of a run that is only planned.
  func plan(inputs: String, _ stage: inout ServiceStage) throws -> ChangePlan

  /// The same service, where the run changes exactly what a plan says, or nothing.
  ///
  /// - Parameters:
  ///   - document: as ``plan(inputs:_:)`` made it.
  ///   - file: names the document in messages.
  ///   - inputs: digest of what this run rests on.
  /// - Throws: an error if the bytes are not a plan, or one that rests on other inputs.
  func following(_ document: [UInt8], file: String, inputs: String) throws -> any PlatformService
}

/// What a run would change at a service.
package struct ChangePlan: Sendable {
  /// For ``ChangePlanning/following(_:file:inputs:)``, with a line end.
  package var document: String
  /// In one sentence, for people.
  package var summary: String

  package init(document: String, summary: String) {
    self.document = document
    self.summary = summary
  }
}

/// A service that answers questions about devices, and whose answers can be listed (`--decisions-out`).
package protocol DecisionListing: PlatformService {
  /// Hands what became of the questions of a run to `body`, a line each without its end.
  func forEachDecisionLine(of run: RunID, in store: EventStore, _ body: (String) throws -> Void) throws
}

/// What a platform may use and change beside a delivery.
package struct ServiceStage {
  package let store: EventStore
  package let run: RunID
  package let context: RunContext
  package let interruption: Interruption
  /// Tells whoever watches the run; from any thread.
  package let note: @Sendable (String) -> Void
  package var report: RunReport
  /// What the platform counts for the summary (`Platform.add`).
  package var figures: [String: Int]
  /// How the run ends if nothing else goes wrong.
  package var exit: RunExit
  /// Set where no request can do any good.
  package var skipsDelivery = false

  package init(
    store: EventStore, run: RunID, context: RunContext, interruption: Interruption, report: RunReport,
    figures: [String: Int] = [:], exit: RunExit = .done, note: @escaping @Sendable (String) -> Void
  ) {
    self.store = store
    self.run = run
    self.context = context
    self.interruption = interruption
    self.report = report
    self.figures = figures
    self.exit = exit
    self.note = note
  }
}

/// The configured service cannot be called; each problem names the setting to change.
package struct ServiceSettingsError: RunError, Equatable, CustomStringConvertible {
  package var problems: [String]

  package init(problems: [String]) { self.problems = problems }

  package var exit: RunExit { .configuration }

  package var description: String { problems.map { "error: \($0)" }.joined(separator: "\n") }

  /// - Throws: an error where something is missing.
  package static func refuse(_ missing: [MissingSetting]) throws {
    if !missing.isEmpty { throw ServiceSettingsError(problems: missing.map(\.description)) }
  }
}

/// A setting that calls to a service need, and that nobody made. Runs refuse it, and checks of a job find it.
package struct MissingSetting: Sendable, Equatable, CustomStringConvertible {
  /// Such as `Connection.baseUrl`.
  package var name: String
  /// Carries it in the environment.
  package var variable: String
  /// What in the job asks for it; nil where every call needs it, so that a job cannot be wrong about it.
  package var cause: String?

  /// - Parameter isMissing: makes nil of what is there.
  package init?(_ name: String, _ variable: String, cause: String? = nil, if isMissing: Bool) {
    guard isMissing else { return nil }
    self.name = name
    self.variable = variable
    self.cause = cause
  }

  /// What carries it in the environment, in words: a secret best comes from a file.
  package var carrier: String {
    let isSecret = SettingsSchema.current.settings(matching: name).contains(where: \.isSecret)
    return isSecret ? "\(variable)_FILE (the path of a file with it)" : variable
  }

  package var description: String {
    "\(name) is not set\(cause.map { ", but \($0)" } ?? ""); set it, or \(carrier), or run with --sandbox"
  }
}
