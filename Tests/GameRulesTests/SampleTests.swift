import BatchFoundation
import GameRules
import Testing

/// The sample of the rules (reference deltadna 12), byte for byte.
@Suite struct SampleTests {
  private let lines = [
    #"{"deviceId":"d-1","timestamp":"2026-01-05T10:00:00Z","type":"launch","device":{"name":"iPhone","version":"iPhone15,2","osName":"iOS","osVersion":"18.1","appVersion":"3.1","language":"en","country":"GB"}}"#,
    #"{"deviceId":"d-1","timestamp":"2026-01-05 10:00:12.500","type":"pushReceived","payload":{"_ddId":7}}"#,
    #"{"deviceId":"d-1","timestamp":1767607215250,"type":"gameEvent","name":"levelUp","params":{"score":1.50,"level":4,"mode":null,"bonus":{"z":9007199254740993,"a":["x/y","é"]}}}"#,
    #"{"deviceId":"d-1","timestamp":"2026-01-05T10:01:00Z","type":"namedEvent","name":"PLAYER LOADED"}"#,
    #"{"deviceId":"d-1","timestamp":"2026-01-05T10:02:00Z","type":"transaction","name":"chest","transactionType":"PURCHASE","received":{"items":[{"name":"Sword","type":"Weapon","amount":1}]},"spent":{"realCurrency":{"type":"USD","value":"4.99"}},"transactionID":"1000000123"}"#,
    #"{"deviceId":"d-1","timestamp":"2026-01-05T10:03:00Z","type":"terminate"}"#,
    #"{"eventName":"levelUp","userID":"p-7","sessionID":"6f0c0a52-0000-4000-8000-000000000001","eventTimestamp":"2026-1-5 9:59:59.5","eventParams":{"sdkVersion":"Unity SDK v6.0.3","level":2,"platform":"WEB"}}"#,
  ]

  private let expected = [
    #"{"eventName":"levelUp","userID":"p-7","sessionID":"6f0c0a52-0000-4000-8000-000000000001","eventUUID":"715AAD3E-A099-5846-9181-81F5D87C02F1","eventTimestamp":"2026-01-05 09:59:59.500","eventParams":{"level":2,"platform":"WEB","sdkVersion":"Unity SDK v6.0.3"}}"#,
    #"{"eventName":"newPlayer","userID":"0ECD5CA7-EF9B-5357-B410-B05A2F9D533C","sessionID":"876F6F14-41B3-5359-BFD7-F39D391E628C","eventUUID":"CE14CF3D-C7B5-5028-A8A6-EEE4F81A9DED","eventTimestamp":"2026-01-05 10:00:00.000","eventParams":{"userCountry":"GB","platform":"IOS","sdkVersion":"engage-batch"}}"#,
    #"{"eventName":"gameStarted","userID":"0ECD5CA7-EF9B-5357-B410-B05A2F9D533C","sessionID":"876F6F14-41B3-5359-BFD7-F39D391E628C","eventUUID":"4DD9D119-5B82-5715-BCAC-8612C91B0C41","eventTimestamp":"2026-01-05 10:00:00.000","eventParams":{"clientVersion":"3.1","userLocale":"en_GB","platform":"IOS","sdkVersion":"engage-batch"}}"#,
    #"{"eventName":"levelUp","userID":"0ECD5CA7-EF9B-5357-B410-B05A2F9D533C","sessionID":"876F6F14-41B3-5359-BFD7-F39D391E628C","eventUUID":"7DA57D9F-8700-5B60-8C18-7B1ACAC47C29","eventTimestamp":"2026-01-05 10:00:15.250","eventParams":{"bonus":{"a":["x/y","é"],"z":9007199254740993},"level":4,"score":1.50,"platform":"IOS","sdkVersion":"engage-batch"}}"#,
    #"{"eventName":"transaction","userID":"0ECD5CA7-EF9B-5357-B410-B05A2F9D533C","sessionID":"876F6F14-41B3-5359-BFD7-F39D391E628C","eventUUID":"00CA2FE0-85D9-5995-84DF-F40518469BD6","eventTimestamp":"2026-01-05 10:02:00.000","eventParams":{"productsReceived":{"items":[{"item":{"itemAmount":1,"itemName":"Sword","itemType":"Weapon"}}]},"productsSpent":{"realCurrency":{"realCurrencyAmount":499,"realCurrencyType":"USD"}},"transactionID":"1000000123","transactionName":"chest","transactionType":"PURCHASE","platform":"IOS","sdkVersion":"engage-batch"}}"#,
    #"{"eventName":"gameEnded","userID":"0ECD5CA7-EF9B-5357-B410-B05A2F9D533C","sessionID":"876F6F14-41B3-5359-BFD7-F39D391E628C","eventUUID":"E48A48B6-F66B-5C34-A69F-10332719030A","eventTimestamp":"2026-01-05 10:03:00.000","eventParams":{"platform":"IOS","sdkVersion":"engage-batch"}}"#,
  ]

  @Test func `the sample of the rules gives its events`() throws {
    let replay = Replay(lines)
    replay.settings.sendsClientDevice = false
    let result = try replay.run()
    // The check of events comes later; without it, the invalid one is there too.
    #expect(result.events.filter { $0.name != "PLAYER LOADED" }.map(\.line) == expected)
    #expect(result.sessionsStarted == 1)
    #expect(result.sessionsEnded == 1)
    #expect(result.counts.ignored == [23: 1])
    #expect(result.bodies == ["{\"eventList\":[\(result.lines.joined(separator: ","))]}"])
  }
}
