import FoundationEssentials
import Glibc
import Testing

@testable import BatchPipeline

/// What a killed process left in the folder for temporary files.
@Suite struct AbandonedFolderTests {
  @Test func aLaterOneRemovesItUnlessItsProcessLives() throws {
    let jobs = try JobFolder(["engage-batch-abc123/000000000": "raw", "engage-batch-xy/f": "", "other/f": ""])
    let path = jobs.path
    func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: path)) }
    let first = try TemporaryFolder(below: path)
    let own = try names().subtracting(["engage-batch-xy", "other"])
    #expect(own.count == 1 && !own.contains("engage-batch-abc123"))
    let second = try TemporaryFolder(below: path)
    #expect(try names().isSuperset(of: own))
    #expect(try names().count == 4)
    withExtendedLifetime((first, second)) {}
  }

  @Test func folderGoesWithItsLastReference() throws {
    let jobs = try JobFolder(["f": ""])
    var folder: TemporaryFolder? = try TemporaryFolder(below: jobs.path)
    let file = folder?.path("x") ?? ""
    try Data("raw".utf8).write(to: URL(filePath: file))
    folder = nil
    #expect(try FileManager.default.contentsOfDirectory(atPath: jobs.path) == ["f"])
  }
}
