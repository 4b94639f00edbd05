import EngageRules

extension FirstJob.Content {
  static let engage = FirstJob.Content(
    identity: true,
    configuration: """
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
      """,
    records: [
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
    ], ownEvent: "namedEvent", types: RecordType.allCases.map { "\($0)" })
}
