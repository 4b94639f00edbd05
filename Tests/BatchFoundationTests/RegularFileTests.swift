import BatchFoundation
import Glibc
import TestSupport
import Testing

@Suite struct RegularFileTests {
  @Test func readsFilesAndNothingElse() throws {
    let folder = try TemporaryFolder(["f": "abc"])
    #expect(try RegularFile.read("\(folder.path)/f") == Array("abc".utf8))
    #expect(mkfifo("\(folder.path)/p", 0o600) == 0)
    func failure(_ path: String, largest: Int = 10) -> RegularFile.Failure? {
      do {
        _ = try RegularFile.read(path, largest: largest)
        return nil
      } catch {
        return error
      }
    }
    // Nobody writes to it, and nobody waits.
    #expect(failure("\(folder.path)/p")?.reason == "it is a FIFO, not a regular file")
    #expect(failure(folder.path) == .notAFile(.folder))
    #expect(failure("/dev/zero") == .notAFile(.device))
    #expect(failure("\(folder.path)/f", largest: 2) == .tooLarge(limit: 2))
    // A device without end is refused where pipes may stand, too, and nothing is read whole without a bound.
    #expect(throws: RegularFile.Failure.tooLarge(limit: 10)) {
      try RegularFile.read("/dev/zero", largest: 10, takesPipes: true)
    }
    #expect(throws: RegularFile.Failure.tooLarge(limit: 16 << 20)) {
      try RegularFile.read("/dev/zero", takesPipes: true)
    }
    #expect(failure("\(folder.path)/none")?.reason == "cannot be read: No such file or directory")
  }
}
