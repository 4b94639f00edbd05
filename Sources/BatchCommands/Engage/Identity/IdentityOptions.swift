import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchStore
import Engage

struct IdentityStore {
  let path: String

  func reading() throws -> EventStore { try EventStore.openReading(path) { try format(of: $0) } }

  func changing(_ body: (EventStore) throws -> Void) throws { try EventStore.change(path, format, body) }

  private func format(of platform: String?) throws -> StoreFormat {
    let engage = EngagePlatform()
    if let platform, !platform.utf8.elementsEqual(engage.name.utf8) {
      throw CommandError(
        .configuration,
        "\(path.printable): error: the store is for '\(platform.printable)', which has no identities; name a store for 'engage'"
      )
    }
    return engage.storeFormat
  }
}

extension StoreChoice {
  /// Passes the Engage store to `body` for reading.
  func readingIdentities(_ body: (EventStore) throws -> Void) throws {
    try IdentityCommand.reporting { try body(IdentityStore(path: path()).reading()) }
  }
}

extension StoreOptions {
  /// Passes the Engage store to `body` for changes that need no call to its service.
  func changingIdentities(_ body: (EventStore) throws -> Void) throws {
    try IdentityCommand.reporting { try IdentityStore(path: choice.path()).changing(body) }
  }
}

struct ServiceOptions: ParsableArguments {
  @OptionGroup var file: JobStoreOption
  @OptionGroup var source: ConfigSource<JobOption>
  @Flag(help: "Use the sandbox of the runs that filled the store; no account is needed.")
  var sandbox = false

  func validate() throws { try file.validate(source) }

  /// Passes `body` a reconciler for the store and its service. The store must be bound to that service.
  func reconciling(_ body: (IdentityReconciler) throws -> Void) throws {
    try IdentityCommand.reporting {
      let (job, configuration) = try source.load(asksService: !sandbox)
      let engage = EngagePlatform()
      var settings = configuration.settings
      if sandbox { engage.completeForSandbox(&settings) }
      // The store does not know the layout of the list and the audit table, so a plan would be half undone before the
      // service objected.
      guard !settings.general.listId.isEmpty else {
        throw CommandError(
          .configuration,
          "error: General.databaseListId is not set, so the list of recipients is unknown; nothing was changed. "
            + "Name the job of the store (--job), or its configuration (--file)")
      }
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
