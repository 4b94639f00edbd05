import BatchFoundation
import EngageRules
import Glibc
import TestSupport
import Testing

@testable import BatchIngest

/// Exports that are cut or replaced while a run reads them.
@Suite struct InputChangedTests {
  private func read(_ files: InputFiles) throws {
    let folder = try ScratchFolder()
    _ = try Ingest(files, vocabulary: RecordVocabulary.engage, options: .test(temporaryFolder: folder.path)).run(
      Ingest.Callbacks(partition: { _ in }))
  }

  @Test func aFileThatBecameShorterIsTold() throws {
    let folder = try ScratchFolder()
    let path = try folder.write("a.ndjson", String(repeating: "{}\n", count: 100))
    let files = try InputFiles.find([.events: ["a.ndjson"]], in: folder.path)
    truncate(path, 30)
    let error = InputChanged(path: path, change: .isShorter(read: 30, of: 300))
    #expect(throws: error) { try read(files) }
    #expect(error.exit == .inputOutput)
    #expect(
      error.description
        == "\(path): error: the input shrank while it was read (30 of 300 bytes); the run imported no records. Run the job again once the whole file is there"
    )
  }

  @Test func aFIFOInItsPlaceIsTold() throws {
    let folder = try ScratchFolder()
    let path = try folder.write("a.ndjson", "{}\n")
    let files = try InputFiles.find([.events: ["a.ndjson"]], in: folder.path)
    unlink(path)
    mkfifo(path, 0o600)
    #expect(throws: InputChanged(path: path, change: .isNoFile)) { try read(files) }
  }

  @Test func aFileThatGrewIsReadToItsEnd() throws {
    let folder = try ScratchFolder()
    try folder.write("a.ndjson", "{}\n")
    let files = try InputFiles.find([.events: ["a.ndjson"]], in: folder.path)
    try folder.write("a.ndjson", "{}\n{}\n")
    #expect(throws: Never.self) { try read(files) }
  }
}
