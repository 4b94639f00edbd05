package import BatchFoundation
package import BatchReport
import FoundationEssentials

/// The file that a collector of Prometheus reads: it is whole at every moment, and keeps its rights when it is replaced.
package enum MetricsFile {
  /// - Parameter metrics: makes the figures, from when a run of the job last ended well by what the file said.
  /// - Throws: ``OutputError``.
  package static func write(to path: String, job: String, _ metrics: (_ lastSuccess: Instant?) -> MetricsText) throws {
    // What cannot be read says nothing of the runs before, and what is not a file may have no end.
    let isFile = (try? FileStatus.at(path)?.kind) == .file
    let before = isFile ? FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } : nil
    let text = metrics(before.flatMap { MetricsText.lastSuccess(of: job, in: $0) }).text
    try OutputFile.write(text, to: path)
  }
}
