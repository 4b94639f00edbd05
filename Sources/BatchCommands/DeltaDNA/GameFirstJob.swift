import GameRules

extension FirstJob.Content {
  static let game = FirstJob.Content(
    identity: false,
    configuration: """
      {
        "DeltaDNA": {
          "clientVersion": "1.0.0",
          "onInvalid": "quarantine",
          "sessionTimeoutSeconds": 300
        }
      }
      """,
    records: [
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
    ], ownEvent: "gameEvent",
    types: GameRecordType.allCases.filter { !$0.isIgnored }.map(\.name))
}
