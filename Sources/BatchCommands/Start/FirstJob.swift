import BatchFoundation

/// A job that runs as it stands, for somebody to make their own.
struct FirstJob {
  struct File: Equatable {
    /// Relative to the folder.
    var path: String
    var text: String
  }

  enum Platform: String, CaseIterable {
    case engage, deltadna, unity
  }

  /// Of the job; its store is named after it.
  var name: String
  var platform: Platform
  /// The day of the recorded events, whose midnight in UTC it is.
  var day: Instant
  /// What it reads; nil for some records that are written beside it.
  var export: FirstExport?

  /// In the order in which a person reads them.
  var files: [File] {
    let files = [
      File(path: "job.json", text: job + "\n"), File(path: "config.json", text: configuration + "\n"),
    ]
    guard let export else { return files + [File(path: "exports/\(date).ndjson", text: records)] }
    return files + (export.document.map { [File(path: FirstExport.mapFile, text: $0)] } ?? [])
  }

  /// Members of the job: what it reads, and of when.
  private var inputs: String {
    guard let export else {
      return """
        "inputs": { "events": ["exports/*.ndjson"] },
          "window": { "from": "today-P7D", "to": "now", "zone": "UTC" },
        """
    }
    let path = JSONString.quoted(export.path)
    let entry = export.map.map { "{ \"path\": \(path), \"map\": \(JSONString.quoted($0)) }" } ?? path
    return "\"inputs\": { \"\(export.kind.name)\": [\(entry)] },"
  }

  private var date: String { String(day.rfc3339.prefix(10)) }

  private var job: String {
    """
    {
      "name": "\(name)",
      "destination": "\(platform.rawValue)",
      "configuration": ["config.json"],
      \(inputs)
      "identity": \(platform == .engage),
      "store": "var/\(name).sqlite",
      "reports": "var/reports"
    }
    """
  }

  private var configuration: String {
    switch platform {
    case .engage:
      """
      {
        "General": {
          "databaseListId": ""
        },
        "Session": {
          "sessionLifecycleExpiration": "30 minutes"
        },
        "LocalEventStore": {
          "expireLocalEventsAfterNumDays": 30
        }
      }
      """
    case .deltadna, .unity:
      """
      {
        "DeltaDNA": {
          "clientVersion": "1.0.0",
          "onInvalid": "quarantine",
          "sessionTimeoutSeconds": 300
        }
      }
      """
    }
  }

  private var records: String {
    let lines: [(time: String, fields: String)] =
      switch platform {
      case .engage:
        [
          (
            "08:00:00",
            #""type":"launch","device":{"name":"iPhone","version":"iPhone15,2","osName":"iOS","osVersion":"18.1","appName":"Shop","appVersion":"5.0.0"}"#
          ),
          (
            "08:00:30",
            #""type":"notificationOpened","payload":{"aps":{"alert":"Sale"},"CurrentCampaign":"sale","CampaignValidFor":"2 days"}"#
          ),
          ("08:01:00", #""type":"namedEvent","name":"Opened cart","params":{"items":3}"#),
          ("08:04:00", #""type":"goalCompleted","name":"Bought","params":{"value":25}"#),
          ("08:05:00", #""type":"background""#),
        ]
      case .deltadna, .unity:
        [
          (
            "08:00:00",
            #""type":"launch","device":{"name":"Pixel 9","osName":"Android","osVersion":"15","appVersion":"1.0.0","manufacturer":"Google","language":"en","country":"GB","timezoneOffset":"+0000"}"#
          ),
          (
            "08:01:00",
            #""type":"gameEvent","name":"missionStarted","params":{"missionName":"Harbour","isTutorial":true}"#
          ),
          (
            "08:04:00",
            #""type":"gameEvent","name":"missionCompleted","params":{"missionName":"Harbour","userLevel":2}"#
          ),
          ("08:05:00", #""type":"terminate""#),
        ]
      }
    return lines.map { #"{"deviceId":"phone-1","timestamp":"\#(date)T\#($0.time)Z",\#($0.fields)}"# + "\n" }.joined()
  }
}
