package import BatchFoundation
package import BatchReport
import FoundationEssentials

/// The file that a Prometheus collector reads: it is complete at every moment, and keeps its permissions when replaced.
package enum MetricsFile {
  /// - Parameters:
  ///   - job: its name; empty for a job that cannot be read, which is the one that the file is about.
  ///   - metrics: makes the figures, from the name and when a run of the job last ended well by what the file said.
  /// - Throws: ``OutputError``.
  package static func write(
    to path: String, job: String, _ metrics: (_ job: String?, _ lastSuccess: Instant?) -> MetricsText
  ) throws {
    // What cannot be read says nothing of the runs before, and what is not a file may have no end.
    let isFile = (try? FileStatus.at(path)?.kind) == .file
    let before = isFile ? FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } : nil
    let name = job.isEmpty ? before.flatMap(MetricsText.job) : job
    let text = metrics(name, before.flatMap { MetricsText.lastSuccess(of: name ?? job, in: $0) }).text
    try OutputFile.write(text, to: path)
  }
}
