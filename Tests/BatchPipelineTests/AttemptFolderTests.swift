import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchPipeline

/// What an attempt takes over and writes is what was given, with the sums of that.
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
    #expect(proof.sum == Hexadecimal.text(of: CopySum.hash(text)))
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
    #expect(proof.sum == Hexadecimal.text(of: CopySum.hash(text)))
    #expect(try (identity("\(attempt.path)/store.sqlite") == identity(path)) == !isOther)
    #expect(try attempt.publish())
    #expect(try jobs.text("result/store.sqlite") == text)
  }

  @Test func partsAreWhatEachGot() throws {
    var random = SplitMix64(seed: 12)
    for parts in 1...5 {
      let folder = try AttemptFolder(for: "\(jobs.path)/\(parts)")
      let written = try PartTargets(parts, in: folder)
      var expected = [[UInt8]](repeating: [], count: parts)
      for round in 0..<12 {
        let longest = [0, 70, 5000, 140_000, 400_000][round % 5]
        let pieces = (0..<parts).map { part in
          let count = Int.random(in: 0...longest, using: &random)
          return [UInt8](repeating: UInt8(round * 8 + part), count: count)
        }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: pieces.reduce(1) { $0 + $1.count })
        defer { unsafe bytes.deallocate() }
        var at = 0
        let views = pieces.map { piece in
          defer { at += piece.count }
          unsafe (bytes + at).update(from: piece, count: piece.count)
          return unsafe UnsafeBufferPointer(start: bytes + at, count: piece.count)
        }
        for part in 0..<parts {
          try unsafe written.take(part, views[part])
          expected[part] += pieces[part]
        }
      }
      let slices = try written.finish([Int](repeating: 1, count: parts))
      for part in 0..<parts {
        #expect(slices[part].bytes == UInt64(expected[part].count))
        #expect(slices[part].sum == Hexadecimal.text(of: CopySum.hash(expected[part])))
        let file = try Data(contentsOf: URL(filePath: "\(folder.path)/\(written.names[part])"))
        #expect(Array(file) == expected[part])
      }
    }
  }
}
