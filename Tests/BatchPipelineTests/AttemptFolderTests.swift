import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchPipeline

/// What an attempt takes over and writes is what was given, with the digests of that.
@Suite struct AttemptFolderTests {
  private let jobs: JobFolder
  private let attempt: AttemptFolder

  init() throws {
    jobs = try JobFolder(["kept": String(repeating: "kept ", count: 60_000)])
    attempt = try AttemptFolder(for: "\(jobs.path)/result")
  }

  private func identity(_ path: String) throws -> FileStatus.Identity? { try FileStatus.at(path)?.identity }

  @Test func aFileIsTakenOverByAnotherNameOfIt() throws {
    let (path, text) = ("\(jobs.path)/kept", try jobs.text("kept"))
    let proof = try attempt.adopt(path, as: "store.sqlite")
    #expect(proof.bytes == 300_000)
    #expect(proof.sha256 == Hexadecimal.text(of: SHA256.hash(text)))
    #expect(try identity("\(attempt.path)/store.sqlite") == identity(path))
    #expect(try attempt.publish())
    #expect(try jobs.text("result/store.sqlite") == text)
  }

  @Test func aFileOfAnotherFileSystemIsCopied() throws {
    let path = "/dev/shm/engage-attempt-\(UUID().uuidString)"
    let text = String(repeating: "other ", count: 50_001)
    try Data(text.utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    // Both may be one, where tests have their folder in memory.
    let isOther = try identity(path)?.device != identity(jobs.path)?.device
    let proof = try attempt.adopt(path, as: "store.sqlite")
    #expect(proof.bytes == 300_006)
    #expect(proof.sha256 == Hexadecimal.text(of: SHA256.hash(text)))
    #expect(try (identity("\(attempt.path)/store.sqlite") == identity(path)) == !isOther)
    #expect(try attempt.publish())
    #expect(try jobs.text("result/store.sqlite") == text)
  }
}
