import BatchFoundation
import Glibc
import TestSupport
import Testing

@Suite struct FilePlaceTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(["a": "a"]) }

  private func place(_ name: String) throws -> FilePlace? { try FilePlace("\(folder.path)/\(name)") }

  @Test func oneFileIsOnePlaceUnderAllItsNames() throws {
    symlink("a", folder.path + "/soft")
    link(folder.path + "/a", folder.path + "/hard")
    symlink(".", folder.path + "/folder")
    let a = try place("a")
    #expect(a != nil)
    for name in ["soft", "hard", "folder/a", "./a", "folder/soft"] { #expect(try place(name) == a, "\(name)") }
  }

  @Test func aNameThatNothingHasYetIsOnePlaceInItsFolder() throws {
    symlink("new", folder.path + "/soft")
    symlink(".", folder.path + "/folder")
    let new = try place("new")
    #expect(new != nil)
    for name in ["soft", "folder/new", "./new"] { #expect(try place(name) == new, "\(name)") }
    #expect(try place("other") != new)
    #expect(try place("none/deep/x") == place("folder/none/deep/x"))
    #expect(try place("none/deep/x") != place("none/deeper/x"))
  }

  @Test func devicesMayBeShared() throws { #expect(try FilePlace("/dev/null") == nil) }
}

@Suite struct DraftFileTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func draft(_ name: String, _ text: String) throws -> DraftFile {
    let draft = try DraftFile(for: "\(folder.path)/\(name)")
    try draft.write(Array(text.utf8))
    return draft
  }

  @Test func leavesNothingWhenItIsGivenUp() throws {
    try folder.write("a", "old")
    do { _ = try draft("a", "new") }
    #expect(try folder.names() == ["a"])
    #expect(try folder.read("a") == "old")
  }

  @Test func replacesNothingThatIsNoFile() throws {
    mkfifo(folder.path + "/pipe", 0o600)
    mkdir(folder.path + "/folder", 0o700)
    #expect(throws: SystemError(EEXIST)) { try draft("pipe", "new").replace() }
    #expect(throws: SystemError(EISDIR)) { try draft("folder", "new").replace() }
    #expect(try folder.names() == ["folder", "pipe"])
    #expect(try FileStatus.at(folder.path + "/pipe")?.kind == .pipe)
  }

  @Test func replacesWhatStandsBehindALinkAndKeepsItsRights() throws {
    try folder.write("a", "old")
    chmod(folder.path + "/a", 0o640)
    symlink("a", folder.path + "/link")
    try draft("link", "new").replace()
    #expect(try folder.names() == ["a", "link"])
    #expect(try folder.read("a") == "new")
    #expect(try FileStatus.at(folder.path + "/a")?.mode == 0o640)
    try draft("b", "new").replace()
    #expect(try FileStatus.at(folder.path + "/b")?.mode == 0o600)
  }

  @Test func publishesInPlaceOfNothing() throws {
    try draft("a", "first").publish()
    #expect(throws: SystemError(EEXIST)) { try draft("a", "second").publish() }
    #expect(try folder.read("a") == "first")
    #expect(try folder.names() == ["a"])
  }

  @Test func allBytesGoThroughAPipeThatDoesNotBlock() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    let reading = ends[0]
    var thread = pthread_t()
    // The pipe holds 64 KiB; the rest has to wait until this thread has read.
    pthread_create(
      &thread, nil,
      { context in
        let reading = Int32(Int(bitPattern: context))
        var total = 0
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        usleep(50_000)
        while case let count = read(reading, &piece, piece.count), count > 0 { total += count }
        return UnsafeMutableRawPointer(bitPattern: total)
      }, UnsafeMutableRawPointer(bitPattern: Int(reading)))
    let bytes = [UInt8](repeating: 7, count: 1_000_003)
    try bytes.withUnsafeBytes { try FileDescriptor.write($0, to: ends[1]) }
    close(ends[1])
    var total: UnsafeMutableRawPointer?
    pthread_join(thread, &total)
    close(reading)
    #expect(Int(bitPattern: total) == 1_000_003)
  }
}
