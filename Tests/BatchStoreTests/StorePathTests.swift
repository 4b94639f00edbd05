import BatchFoundation
import Engage
import Glibc
import StoreSupport
import TestSupport
import Testing

@testable import BatchStore

/// Only a file that is a store is opened, only where nothing stands one is made, and everything else stays as it is.
@Suite struct StorePathTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var other: String { folder.path + "/other" }

  private func expectRefused(_ error: StoreError, _ exit: RunExit) throws {
    let before = try FileStatus.at(folder.store)
    #expect(throws: error) { try EventStore.open(folder.store) }
    #expect(throws: error) { try EventStore.openReading(folder.store) }
    #expect(error.exit == exit)
    #expect(try FileStatus.at(folder.store) == before)
    #expect(try folder.names().filter { $0 != "other" } == ["store.sqlite"])
  }

  @Test func refusesAFileThatIsNoStore() throws {
    let text = String(repeating: "not a database, and long enough to be read as one", count: 100)
    try folder.write("store.sqlite", text)
    try expectRefused(.foreign(path: folder.store), .configuration)
    #expect(try folder.read("store.sqlite") == text)
    try folder.write("store.sqlite", "short")
    try expectRefused(.foreign(path: folder.store), .configuration)
    #expect(try folder.read("store.sqlite") == "short")
  }

  @Test func refusesADatabaseOfAnotherProgram() throws {
    try EventStore.open(folder.store).close()
    unlink(folder.store + ".lock")
    // The number of the program stands in the header, four bytes from 68 on.
    patch(0, 68)
    try expectRefused(.foreign(path: folder.store), .configuration)
  }

  @Test func refusesAnEmptyFileAndDoesNotTakeItForANewStore() throws {
    try folder.write("store.sqlite", "")
    try expectRefused(.empty(path: folder.store), .configuration)
  }

  @Test func refusesAStoreThatWasCutOff() throws {
    try EventStore.open(folder.store).close()
    unlink(folder.store + ".lock")
    truncate(folder.store, 100)
    try expectRefused(
      .damaged(path: folder.store, detail: "the file is truncated to 100 bytes"), .inputOutput)
  }

  @Test func refusesAFolder() throws {
    mkdir(folder.store, 0o700)
    try expectRefused(.notAFile(path: folder.store, kind: .folder), .cannotWrite)
  }

  @Test func refusesAFIFOAndDoesNotWaitAtIt() throws {
    mkfifo(folder.store, 0o600)
    try expectRefused(.notAFile(path: folder.store, kind: .pipe), .cannotWrite)
  }

  @Test func refusesADeviceAlsoBehindALinkAndDoesNotRemoveIt() throws {
    symlink("/dev/null", folder.store)
    try expectRefused(.notAFile(path: folder.store, kind: .device), .cannotWrite)
    #expect(try FileStatus.at("/dev/null")?.kind == .device)
    let error = StoreError.notAFile(path: "/dev/null", kind: .device)
    #expect(throws: error) { try EventStore.open("/dev/null") }
    #expect(try FileStatus.at("/dev/null")?.kind == .device)
    #expect(
      error.description
        == "/dev/null: error: the store is a device, not a file; nothing was changed. Name a file with the job's 'store' or with --store"
    )
  }

  @Test func refusesALogThatIsNoFile() throws {
    try EventStore.open(folder.store).close()
    mkfifo(folder.store + "-wal", 0o600)
    #expect(throws: StoreError.notAFile(path: folder.store + "-wal", kind: .pipe)) { try EventStore.open(folder.store) }
  }

  @Test func followsLinksAndKeepsTheLogBesideTheFile() throws {
    symlink("other", folder.store)
    let store = try EventStore.open(folder.store)
    #expect(try folder.names() == ["other", "other-shm", "other-wal", "other.lock", "store.sqlite"])
    _ = try store.runs.begin(
      job: "nightly", configurationDigest: "", started: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0))
    // What is in the log only is found through the link too.
    let beside = try EventStore.openReading(folder.store)
    #expect(try beside.runs.all().count == 1)
    try beside.close()
    try store.close()
    #expect(try folder.names() == ["other", "other.lock", "store.sqlite"])
    #expect(try FileStatus.at(other)?.kind == .file)
  }

  @Test func refusesLinksWithoutAnEnd() throws {
    symlink("store.sqlite", folder.store)
    #expect(throws: StoreError.inputOutput(path: folder.store, operation: "open", code: ELOOP)) {
      try EventStore.open(folder.store)
    }
  }

  @Test func makesAStoreInPlaceOfNothing() throws {
    let file = try StoreFile(folder.store)
    #expect(try file.isThere() == false)
    try folder.write("store.sqlite", "came meanwhile")
    #expect(try file.create(.engage) == false)
    #expect(try folder.read("store.sqlite") == "came meanwhile")
    #expect(try folder.names() == ["store.sqlite"])
  }

  // MARK: The lock

  @Test func aSecondRunIsRefusedUntilTheFirstEnds() throws {
    var store: EventStore? = try EventStore.open(folder.store)
    expectHeld(folder.store)
    try store?.close()
    store = nil
    try EventStore.open(folder.store).close()
  }

  @Test func theLockHoldsThroughASymbolicLink() throws {
    let store = try EventStore.open(folder.store)
    symlink("store.sqlite", other)
    expectHeld(other)
    try store.close()
  }

  @Test func theLockHoldsThroughAHardLink() throws {
    let store = try EventStore.open(folder.store)
    link(folder.store, other)
    expectHeld(other)
    try store.close()
  }

  @Test func theLockHoldsWithoutItsNote() throws {
    let store = try EventStore.open(folder.store)
    unlink(folder.store + ".lock")
    expectHeld(folder.store)
    try store.close()
  }

  @Test func theHolderIsNamed() throws {
    let store = try EventStore.open(folder.store)
    let error = #expect(throws: StoreError.self) { try EventStore.open(folder.store) }
    guard case .heldByAnotherRun(_, let holder?)? = error else {
      Issue.record("no holder: \(String(describing: error))")
      return
    }
    #expect(holder.process == getpid())
    #expect(
      "\(StoreError.heldByAnotherRun(path: "/s", holder: StoreHolder(process: 7, since: holder.since, command: "run a.json")))"
        == "/s: error: another run holds the store: process 7 since \(holder.since.rfc3339), 'run a.json'; try again later"
    )
    try store.close()
    #expect(try folder.read("store.sqlite.lock") == "")
  }

  @Test func aFileOfSomebodyElseUnderTheNameOfTheNoteStays() throws {
    try folder.write("store.sqlite.lock", "mine")
    let store = try EventStore.open(folder.store)
    expectHeld(folder.store)
    try store.close()
    #expect(try folder.read("store.sqlite.lock") == "mine")
  }

  @Test(arguments: [false, true]) func aStoreThatIsDeletedOrReplacedIsNotWrittenAnyMore(isReplaced: Bool) throws {
    let store = try EventStore.open(folder.store)
    rename(folder.store, other)
    if isReplaced { try folder.write("store.sqlite", "another") }
    let error = StoreError.replaced(path: folder.store)
    #expect(throws: error) {
      try store.runs.begin(
        job: "nightly", configurationDigest: "", started: Instant(milliseconds: 0), asOf: Instant(milliseconds: 0))
    }
    #expect(error.exit == .inputOutput)
    #expect(try store.runs.all().isEmpty)
    try store.close()
    if isReplaced { #expect(try folder.read("store.sqlite") == "another") }
  }

  private func expectHeld(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try EventStore.open(path) }
    #expect(error?.exit == .storeIsHeld, sourceLocation: sourceLocation)
  }

  private func patch(_ byte: UInt8, _ offset: off_t) {
    let file = open(folder.store, O_RDWR)
    var byte = byte
    #expect(pwrite(file, &byte, 1, offset) == 1)
    Glibc.close(file)
  }
}
