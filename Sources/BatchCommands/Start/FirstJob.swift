import BatchFoundation
import BatchMaps
import BatchPipeline

/// A job that runs as it stands, for somebody to make their own.
struct FirstJob {
  struct File: Equatable {
    /// Relative to the folder.
    var path: String
    var text: String
  }

  /// What a platform puts into it.
  struct Content {
    var identity: Bool
    var configuration: String
    /// The time of the day, and all other members of a record.
    var records: [(time: String, fields: String)]
    /// The type of a record with a name of the app's own.
    var ownEvent: String
    /// Types of records that mean something to the platform.
    var types: [String] = []
  }

  /// Of the job; its store is named after it.
  var name: String
  var platform: any PlatformCommands
  /// The day of the recorded events, whose midnight in UTC it is.
  var day: Instant
  /// What it reads; nil for some records that are written beside it.
  var export: FirstExport?

  /// In the order in which a person reads them.
  var files: [File] {
    let files = [
      File(path: "job.json", text: job + "\n"), File(path: "config.json", text: platform.firstJob.configuration + "\n"),
    ]
    guard let export else { return files + [File(path: "exports/\(date).ndjson", text: records)] }
    return files + (export.document.map { [File(path: MapProposal.file, text: $0)] } ?? [])
  }

  /// Members of the job: what it reads, and of when.
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
