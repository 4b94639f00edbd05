import ArgumentParser
import BatchConfiguration
import BatchFoundation
import BatchPipeline
import BatchReport
import BatchStore
import BatchWire

struct StoreCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "List all damage in a store; exit with 74 if there is any.",
    discussion: """
      Reads every page, every column and every block. Nothing is changed, and no row values are shown. 'store salvage' copies \
      the intact data to a new store.
      """)

  @OptionGroup var options: StoreOptions<JobName>

  func run() throws {
    var damages = 0
    try options.reading(checksPages: false) { store, _ in
      var listing = Listing(options.answer.format, columns: DamageRow.columns)
      try store.check { damage in
        listing.add(DamageRow.cells(damage))
        damages += 1
      }
      listing.end()
    }
    Streams.note(damages == 0 ? "the store is intact" : "damaged items: \(damages); 'store salvage' copies the rest")
    if damages > 0 { throw ExitCode(.inputOutput) }
  }
}

struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy a store in its present state, and check the copy.",
    discussion: """
      A run may have the store open: the copy contains everything that was committed before the command began. A new file is \
      readable only by its owner, and gets its name once the copy is found intact. An object in a bucket is replaced only if it is \
      the copy that this store was last written to or restored from. A copy does not know of events sent after it was made; \
      docs/store.md says what to do before you use it.
      """)

  @OptionGroup var options: StoreOptions<JobOption>

  @Argument(help: ArgumentHelp("The copy: a new file, or s3://bucket/key.", valueName: "file"))
  var file: String

  func run() throws {
    let copy = try RemoteAddress(file).map { _ in try StoreCopy(file, options.choice) }
    try options.reading { store, _ in
      let bytes = try copy?.write(store) ?? store.backUp(to: file)
      options.answer.format.show(
        ["file": .text(file), "bytes": .number(bytes)],
        notes: "\(file): an intact copy of the store, \(bytes.counted("byte"))")
    }
  }
}

struct StoreSalvageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Copy the intact data of a damaged store to a new one, and list the damage.",
    discussion: """
      The damaged store is only read; keep it. The listed losses mean: events of a lost chunk may or may not have been sent, \
      devices whose state is lost start without one, and lines whose digests are lost count as new when a run reads them \
      again.
      """)

  @OptionGroup var options: StoreOptions<JobName>

  @Option(help: ArgumentHelp("The file for the new store; it must not already exist.", valueName: "file"))
  var to: String

  func run() throws {
    try options.reading(checksPages: false) { store, _ in
      let report = try store.salvage(to: to)
      var listing = Listing(options.answer.format, columns: DamageRow.columns)
      for damage in report.lost { listing.add(DamageRow.cells(damage)) }
      listing.end()
      let rows = report.rows.reduce(0) { $0 + $1.rows }
      Streams.note(
        rows.counted("row was", "rows were") + " copied to \(to); "
          + report.lost.count.counted("damaged item is listed", "damaged items are listed"))
    }
  }
}

private enum DamageRow {
  static let columns = ["table", "row", "problem"]

  static func cells(_ damage: StoreDamage) -> [JSONNode] {
    [
      .text(damage.table.isEmpty ? nil : damage.table), .number(damage.row),
      .text(damage.problem),
    ]
  }
}

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
    let bytes = try copy.read(of: .installed)
    answer.format.show(
      ["file": .text(copy.store), "bytes": .number(bytes)],
      notes: "\(copy.store): an intact copy of \(address), \(bytes.counted("byte"))")
  }
}

extension StoreCopy {
  /// - Throws: ``ConfigurationErrors`` for an invalid job.
  init(_ address: String, _ choice: StoreChoice<JobOption>) throws {
    let store = try choice.path()
    let changes = CommandLineChanges(profile: choice.profile)
    let settings =
      try choice.job.map { try JobSource.load($0, changes, asksService: false).configuration.settings }
      ?? JobSource.loader(asksService: false).load(files: []).settings
    self.init(address, of: store, in: ObjectStorage(settings), interruption: try Signals.interruption())
  }
}
