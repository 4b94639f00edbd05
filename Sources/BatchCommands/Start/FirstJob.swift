import BatchFoundation
import BatchMaps
import BatchPipeline

/// A runnable job that people adapt to their needs.
struct FirstJob {
  struct File: Equatable {
    /// The path relative to the folder.
    var path: String
    var text: String
  }

  /// The platform's part of the job.
  struct Content {
    var identity: Bool
    var configuration: String
    /// The time of day, and all other members of a record.
    var records: [(time: String, fields: String)]
    /// The type of a record with an app-defined name.
    var ownEvent: String
    /// The record types known to the platform.
    var types: [String] = []
  }

  /// The name of the job and of its store.
  var name: String
  var platform: any PlatformCommands
  /// The day of the recorded events, as its midnight in UTC.
  var day: Instant
  /// The export to read; nil for sample records that are written along with the job.
  var export: FirstExport?

  /// The files, in reading order.
  var files: [File] {
    let files = [
      File(path: "job.json", text: job + "\n"), File(path: "config.json", text: platform.firstJob.configuration + "\n"),
    ]
    guard let export else { return files + [File(path: "exports/\(date).ndjson", text: records)] }
    return files + (export.document.map { [File(path: MapProposal.file, text: $0)] } ?? [])
  }

  /// The job's members for its inputs and their window.
  private var inputs: String {
    guard let export else {
      return """
        "inputs": { "events": ["exports/*.ndjson"] },
          "window": { "from": "today-P7D", "to": "now", "zone": "UTC" },
        """
    }
    let entries = export.paths.map(JSONString.quoted).map { path in
      let words = [("map", export.map), ("record", export.record)].compactMap { word, value in
        value.map { ", \"\(word)\": \(JSONString.quoted($0))" }
      }
      return words.isEmpty ? path : "{ \"path\": \(path)\(words.joined()) }"
    }
    return "\"inputs\": { \"\(export.kind.name)\": [\(entries.joined(separator: ", "))] },"
  }

  private var date: String { String(day.rfc3339.prefix(10)) }

  private var job: String {
    """
    {
      "name": "\(name)",
      "destination": "\(platform.platform.name)",
      "configuration": ["config.json"],
      \(inputs)
      "identity": \(platform.firstJob.identity),
      "store": "var/\(name).sqlite",
      "reports": "var/reports"
    }
    """
  }

  private var records: String {
    platform.firstJob.records.map {
      #"{"deviceId":"phone-1","timestamp":"\#(date)T\#($0.time)Z",\#($0.fields)}"# + "\n"
    }.joined()
  }
}
