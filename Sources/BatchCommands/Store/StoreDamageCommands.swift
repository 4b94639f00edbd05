import ArgumentParser
import BatchFoundation
import BatchStore

struct StoreCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "List everything that is damaged in a store; exit with 74 if anything is.",
    discussion: """
      Reads every page, every column and every block. Nothing is changed, and no value of a row is shown. What can be saved, \
      'store salvage' takes over into a new store.
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
    Streams.note(damages == 0 ? "the store is whole" : "\(damages) damages; 'store salvage' takes over what is whole")
    if damages > 0 { throw ExitCode(.inputOutput) }
  }
}

struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy a store as it is at this moment, and check the copy.",
    discussion: """
      A run may have the store open meanwhile: the copy has what was committed when the command began. It is readable by its owner \
      alone, and stands under its name only once it was found whole. Events that are sent after the copy was made are not known to it: \
      docs/store.md says what to do before it is used.
      """)

  @OptionGroup var options: StoreOptions<JobOption>

  @Argument(help: ArgumentHelp("The copy, where nothing stands yet.", valueName: "file"))
  var file: String

  func run() throws {
    try options.reading { store, _ in
      let bytes = try store.backUp(to: file)
      options.answer.format.tell(["file": .text(file), "bytes": .number(bytes)]) {
        Streams.note("\(file.printable): a whole copy of the store, \(bytes.counted("byte"))")
      }
    }
  }
}

struct StoreSalvageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Take over what is whole in a damaged store into a new one, and list what is not.",
    discussion: """
      The damaged store is only read; keep it. What is lost is listed: events of a lost chunk may have been sent or not, devices whose \
      state is lost begin anew, and lines whose digests are lost count once more when a run reads them again.
      """)

  @OptionGroup var options: StoreOptions<JobName>

  @Option(help: ArgumentHelp("The new store, where nothing stands yet.", valueName: "file"))
  var to: String

  func run() throws {
    try options.reading(checksPages: false) { store, _ in
      let report = try store.salvage(to: to)
      var listing = Listing(options.answer.format, columns: DamageRow.columns)
      for damage in report.lost { listing.add(DamageRow.cells(damage)) }
      listing.end()
      let rows = report.rows.reduce(0) { $0 + $1.rows }
      Streams.note(
        rows.counted("row was", "rows were") + " taken over into \(to); "
          + report.lost.count.counted("damage is listed", "damages are listed"))
    }
  }
}

/// The row of a damage.
private enum DamageRow {
  static let columns = ["table", "row", "problem"]

  static func cells(_ damage: StoreDamage) -> [JSONNode] {
    [
      .text(damage.table.isEmpty ? nil : damage.table), .number(damage.row),
      .text(damage.problem),
    ]
  }
}
