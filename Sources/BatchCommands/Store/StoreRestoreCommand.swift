import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchStore
import BatchWire

struct StoreRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Copy a store from a bucket to a new file, and check the copy.",
    discussion: """
      A later 'store backup' to this address replaces the object, unless another process has replaced it since. With --job, the \
      job's Storage settings say where the bucket is.
      """)

  @OptionGroup var choice: StoreChoice<JobOption>
  @OptionGroup var answer: AnswerOption

  @Argument(help: ArgumentHelp("The copy, s3://bucket/key.", valueName: "address"))
  var address: String

  func run() throws {
    let copy = try StoreCopy(address, choice)
    try Failures.reported {
      let bytes = try copy.read(of: .installed)
      answer.format.tell(["file": .text(copy.store), "bytes": .number(bytes)]) {
        Streams.note("\(copy.store.printable): an intact copy of \(address.printable), \(bytes.counted("byte"))")
      }
    }
  }
}

extension StoreCopy {
  /// - Throws: `ExitCode` for an invalid job, after printing its faults.
  init(_ address: String, _ choice: StoreChoice<JobOption>) throws {
    let store = try choice.path(reads: true)
    let changes = CommandLineChanges(profile: choice.profile)
    let settings =
      try choice.job.map { try JobSource.load($0, changes, asksService: false).configuration.settings }
      ?? Failures.reported { try JobSource.loader(asksService: false).load(files: []).settings }
    self.init(address, of: store, in: ObjectStorage(settings), interruption: try Signals.interruption())
  }
}
