import BatchFoundation
import FoundationEssentials
import Glibc
import Testing

@testable import BatchReport

@Suite struct ReportFolderTests {
  @Test(arguments: [
    ("nightly", "nightly-20260116T000000Z"),
    ("../a b/ü", "job..-a-b----20260116T000000Z"),
    ("", "job-20260116T000000Z"),
  ])
  func isNamedByJobAndStart(job: String, name: String) {
    #expect(ReportFolder.name(job: job, startedAt: Instant(milliseconds: 1_768_521_600_250)) == name)
  }

  @Test("A run that is one of many is named by its window as well")
  func isNamedByWindow() {
    #expect(
      ReportFolder.name(
        job: "nightly", startedAt: Instant(milliseconds: 1_768_521_600_250),
        windowFrom: Instant(milliseconds: 1_768_435_200_000)) == "nightly-20260116T000000Z-from-20260115T000000Z")
  }

  @Test func writesThreeFilesForTheirOwnerOnly() throws {
    let root = FileManager.default.temporaryDirectory.path + "/report-\(UUID().uuidString)"
    // What is left of the folder does no harm.
    defer { try? FileManager.default.removeItem(atPath: root) }
    let report = RunReport.fixture()
    let folder = try ReportFolder.write(report, below: root + "/var/reports")
    #expect(folder == root + "/var/reports/nightly-20260116T000000Z")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
        "report.html", "report.json", "summary.json",
      ])
    #expect(try text(folder + "/report.html") == HTMLReport.text(report))
    #expect(try text(folder + "/report.json") == JSONReport.text(report))
    #expect(try text(folder + "/summary.json") == report.summaryJSON + "\n")
    #expect(try permissions(folder) == 0o700)
    for file in ["report.html", "report.json", "summary.json"] {
      #expect(try permissions("\(folder)/\(file)") == 0o600)
    }
    #expect(try ReportFolder.write(report, below: root + "/var/reports") == folder + "-2")
  }

  @Test func aGroupReadsThemOnRequest() throws {
    let root = FileManager.default.temporaryDirectory.path + "/report-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }  // As above.
    let folder = try ReportFolder.write(.fixture(), below: root, isForGroup: true)
    #expect(try permissions(folder) == 0o750)
    for file in ["report.html", "report.json", "summary.json"] {
      #expect(try permissions("\(folder)/\(file)") == 0o640)
    }
  }

  @Test func namesWhatCannotBeWritten() throws {
    let root = FileManager.default.temporaryDirectory.path + "/report-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }  // As above.
    try Data("x".utf8).write(to: URL(filePath: root))
    let error = #expect(throws: CommandError.self) { try ReportFolder.write(.fixture(), below: root + "/reports") }
    #expect(
      error?.description
        == "\(root): error: cannot create the folder for the report: Not a directory; "
        + "choose another folder with --report or the job's 'reports'")
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  private func permissions(_ path: String) throws -> mode_t {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return status.st_mode & 0o777
  }
}
