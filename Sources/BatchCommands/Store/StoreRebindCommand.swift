import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore

struct StoreRebindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebind", abstract: "Move a store to the address and list that a job's configuration names now.",
    discussion: """
      For a service that moved, or an account that was copied. What was posted to the old address is not sent again; what waits \
      goes to the new one. Refused while identity plans of another list are unfinished.
      """)

  @OptionGroup var job: StoredJob
  @OptionGroup var answer: AnswerOption

  func run() throws {
    let loaded = try job.load()
    try Failures.reported {
      let request = try job.request(.post, loaded)
      try Platforms.installed.changing(request.storePath) { try rebind($0, of: $1, to: request.storeDestination) }
    }
  }

  private func rebind(_ store: EventStore, of platform: any Platform, to new: StoreDestination) throws {
    let old = try store.destination()
    try refuseUnlessPossible(old, new, store, platform)
    try store.rebind(to: new)
    let counts = try store.ledger.statusCounts()
    let posted = counts[.successfullyPosted] ?? 0
    let waiting = [EventStatus.notPosted, .expired, .hold].reduce(0) { $0 + (counts[$1] ?? 0) }
    answer.format.tell([
      "from": .text(old?.description), "to": .text(new.description), "posted": .number(posted),
      "waiting": .number(waiting),
    ]) {
      Streams.note("the store belonged to \(old?.description ?? "no destination") and belongs to \(new) now")
      Streams.note("\(posted) posted events are not sent again; \(waiting) that wait go there")
    }
  }

  private func refuseUnlessPossible(
    _ old: StoreDestination?, _ new: StoreDestination, _ store: EventStore, _ platform: any Platform
  ) throws {
    func refuse(_ problem: String) -> ExitCode {
      Streams.note("\(store.path): error: \(problem); the store was not changed")
      return ExitCode(.configuration)
    }
    guard new.address != nil else {
      throw refuse("the job's configuration names no address that the store could belong to; see 'engage-batch doctor'")
    }
    guard let old else { return }
    guard old.kind.utf8.elementsEqual(new.kind.utf8) else {
      throw refuse("the store belongs to \(old), and \(new) is of another kind, which needs a store of its own")
    }
    guard old.share != nil, old.share != new.share else { return }
    if let obstacle = try platform.obstacle(toMoving: store) { throw refuse(obstacle) }
  }
}
