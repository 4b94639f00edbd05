import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchStore
import Engage
import FoundationEssentials

/// A store of Engage.
struct IdentityStore {
  let path: String

  func reading() throws -> EventStore { try EventStore.openReading(path) { try format(of: $0) } }

  /// Hands the store to `body`, to be changed; no run may have it open.
  func changing(_ body: (EventStore) throws -> Void) throws {
    // Opening would make a new store.
    guard FileManager.default.fileExists(atPath: path) else { throw StoreError.missing(path: path) }
    let store = try EventStore.open(path) { try format(of: $0) }
    let result = Result { try body(store) }
    try store.close()
    try result.get()
  }

  private func format(of platform: String?) throws -> StoreFormat {
    let engage = EngagePlatform()
    if let platform, !platform.utf8.elementsEqual(engage.name.utf8) {
      throw OtherPlatformStore(path: path, platform: platform)
    }
    return engage.storeFormat
  }
}

extension StoreChoice {
  var identities: IdentityStore { get throws { IdentityStore(path: try path()) } }
}

/// A store without recipients and merges, because no run of Engage filled it.
struct OtherPlatformStore: RunError, CustomStringConvertible {
  var path: String
  var platform: String

  var exit: RunExit { .configuration }

  var description: String {
    "\(path.printable): error: the store is one of '\(platform.printable)', which has no identities; name one of 'engage'"
  }
}

/// A store that a command changes without its service, and how it is told.
struct ChangedStoreOptions: ParsableArguments {
  @OptionGroup var choice: StoreChoice<JobOption>
  @OptionGroup var answer: AnswerOption

  func changing(_ body: (EventStore) throws -> Void) throws {
    try IdentityCommand.reporting { try choice.identities.changing(body) }
  }
}

/// No configuration says in which list the recipients of a store are.
struct UnnamedList: RunError, CustomStringConvertible {
  var exit: RunExit { .configuration }

  var description: String {
    "error: General.databaseListId is not set, so it is not known in which list the recipients are; nothing was changed. "
      + "Name the job whose store it is (--job), or its configuration (--file)"
  }
}

/// A store, and the configuration that says where its service is.
struct ServiceOptions: ParsableArguments {
  @OptionGroup var file: JobStoreOption
  @OptionGroup var source: ConfigSource<JobOption>
  @Flag(help: "Use the sandbox that the store was filled from; no account is needed.")
  var sandbox = false

  func validate() throws { try file.validate(source) }

  /// Hands `body` what changes the store and its service, which has to be the one that the store belongs to.
  func reconciling(_ body: (IdentityReconciler) throws -> Void) throws {
    try IdentityCommand.reporting {
      let (job, configuration) = try source.load(asksService: !sandbox)
      let engage = EngagePlatform()
      var settings = configuration.settings
      if sandbox { engage.completeForSandbox(&settings) }
      // A store alone does not say how its list and audit table are laid out; a plan would be half taken back before the service says so.
      guard !settings.general.listId.isEmpty else { throw UnnamedList() }
      let service = engage.storeDestination(settings)
      let destination = sandbox ? service.inSandbox : service
      let path = file.path(of: job, inSandbox: sandbox)
      try IdentityStore(path: path).changing { store in
        try store.check(against: destination, jobFile: job?.file)
        try ServiceSession.run(settings, usesSandbox: sandbox, store: path) { service in
          let reconciler = try IdentityReconciler.ofOperator(settings, service: service, store: store, now: .now)
          try IdentityCommand.noting(reconciler.run, in: store) { try body(reconciler) }
        }
      }
    }
  }
}
