import BatchFoundation
import EventSchemas
import TestSupport
import Testing

@Suite struct EventSchemaTests {
  private func problems(_ file: String) -> [String] {
    EventSchema.inspect(Array(file.utf8), name: "s.json").inspection.problems.map { "\($0.path) \($0.kind.rawValue)" }
  }

  @Test(
    arguments: [
      ("", [" notASchema"]),
      ("[1,]", [" notASchema"]),
      (#"{"events":[],"events":[]}"#, [" notASchema"]),
      ("[]", [" notASchema"]),
      ("{}", [" notASchema"]),
      (#"{"events":null}"#, [" notASchema"]),
      (#"{"events":{}}"#, ["/events notAnArray"]),
      (#"{"events":[]}"#, []),
      (
        #"{"events":[5,{"name":"a","parameters":{}},{"name":"b","parameters":[[]]}]}"#,
        [
          "/events/0 notAnObject", "/events/1/parameters notAnArray", "/events/2/parameters/0 notAnObject",
        ]
      ),
      (
        #"{"events":[{},{"name":5},{"name":"a-b"},{"name":""},{"name":"_a"},{"name":"Ok_2"}]}"#,
        [
          "/events/0/name badName", "/events/1/name badName", "/events/2/name badName", "/events/3/name badName",
          "/events/4/name badName",
        ]
      ),
      (#"{"events":[{"name":"userID"},{"name":"UserID"}]}"#, ["/events/1/name duplicateName"]),
      // A name that is against the rules is there twice all the same.
      (
        #"{"events":[{"name":"a","parameters":[{"name":"q","type":"STRING"},{"name":"Q","type":"STRING"}]}]}"#,
        ["/events/0/parameters/1/name badName", "/events/0/parameters/1/name duplicateName"]
      ),
      (
        #"{"events":[{"name":"a","parameters":[{"name":"userID","type":"STRING"},{"name":"B","type":"STRING"},{"name":"c","type":"STRING"},{"name":"c","type":"FLOAT"},{"name":"o","type":"OBJECT","parameters":[{"name":"userID","type":"STRING"},{"name":"c","type":"STRING"},{"name":"C","type":"STRING"}]}]}]}"#,
        [
          "/events/0/parameters/0/name reservedName", "/events/0/parameters/1/name badName",
          "/events/0/parameters/3/name duplicateName", "/events/0/parameters/4/parameters/2/name badName",
          "/events/0/parameters/4/parameters/2/name duplicateName",
        ]
      ),
      (
        #"{"events":[{"name":"a","published":"yes","parameters":[{"name":"b"},{"name":"c","type":"string"},{"name":"d","type":"MIXED"},{"name":"e","type":5},{"name":"f","type":"STRING","required":1}]}]}"#,
        [
          "/events/0/parameters/0/type badType", "/events/0/parameters/1/type badType",
          "/events/0/parameters/2/type badType",
          "/events/0/parameters/3/type badType", "/events/0/parameters/4/required badType",
          "/events/0/published badType",
        ]
      ),
      (
        #"{"events":[{"name":"a","parameters":[{"name":"b","type":"INTEGER","format":"x","enumeration":[]},{"name":"c","type":"STRING","items":{},"parameters":[5]},{"name":"d","type":"OBJECT","items":{"type":"STRING"}},{"name":"e","type":"ARRAY","parameters":[]},{"name":"f","type":"TIMESTAMP","format":"x"}]}]}"#,
        [
          "/events/0/parameters/0/enumeration misplaced", "/events/0/parameters/0/format misplaced",
          "/events/0/parameters/1/items misplaced", "/events/0/parameters/1/parameters misplaced",
          "/events/0/parameters/2/items misplaced", "/events/0/parameters/3/parameters misplaced",
          "/events/0/parameters/4/format misplaced",
        ]
      ),
      (
        #"{"events":[{"name":"a","parameters":[{"name":"b","type":"STRING","format":"("},{"name":"c","type":"STRING","format":5},{"name":"d","type":"STRING","format":"(a)\\1"},{"name":"e","type":"STRING","enumeration":"x"},{"name":"f","type":"STRING","enumeration":["x",1]}]}]}"#,
        [
          "/events/0/parameters/0/format badFormat", "/events/0/parameters/1/format badFormat",
          "/events/0/parameters/2/format badFormat", "/events/0/parameters/3/enumeration badEnumeration",
          "/events/0/parameters/4/enumeration badEnumeration",
        ]
      ),
      (
        #"{"events":[{"name":"a","parameters":[{"name":"b","type":"ARRAY","items":5},{"name":"c","type":"ARRAY","items":{}},{"name":"d","type":"ARRAY","items":{"type":"ARRAY","items":{"type":"OBJECT","parameters":[{"name":"E","type":"STRING"}]}}}]}]}"#,
        [
          "/events/0/parameters/0/items notAnObject", "/events/0/parameters/1/items/type badType",
          "/events/0/parameters/2/items/items/parameters/0/name badName",
        ]
      ),
      (
        #"{"events":[{"name":"a","more":5,"parameters":[{"name":"b","type":"STRING","description":7}]}],"version":[]}"#,
        []
      ),
      (
        #"{"events":[{"name":"a","published":null,"parameters":[{"name":"b","type":"STRING","format":null,"items":null}]}]}"#,
        []
      ),
    ] as [(String, [String])])
  func namesEveryProblem(file: String, problems expected: [String]) {
    #expect(problems(file) == expected)
  }

  @Test func problemsAreInTheOrderOfTheBytesOfTheirPaths() {
    let events = (0..<11).map { _ in "{}" }.joined(separator: ",")
    #expect(
      problems(#"{"events":[\#(events)]}"#) == [
        "/events/0/name badName", "/events/1/name badName", "/events/10/name badName",
      ] + (2..<10).map { "/events/\($0)/name badName" })
  }

  @Test func countsEventsAndParametersAtAnyDepth() {
    let inspection = EventSchema.inspect(Array(EventCheckerTests.levels.utf8), name: "s.json").inspection
    #expect(inspection.events == 1)
    #expect(inspection.parameters == 6)
  }

  @Test func aFileThatCannotBeUsedIsRefusedWithAllPlaces() {
    let file =
      "{\"events\":[\n{\"name\":\"a\",\"parameters\":[{\"name\":\"b\",\"type\":\"STRING\",\"format\":\"[\"}]},\n {\"name\":\"A\"}]}"
    let error = #expect(throws: FileError.self) { try EventSchema.read(Array(file.utf8), name: "s.json") }
    #expect(
      error?.faults.map(\.description) == [
        "s.json:2:64: error: a.b: the expression is unusable: '[' is never closed, at character 1 of '['",
        "s.json:3:10: error: A: 'A' already exists (case is ignored)",
      ])
  }

  @Test func theShippedSchemaIsFineAndKnowsTheEventsOfTheSDKs() throws {
    let file = "configs/deltadna-schema.json"
    let schema = try EventSchema.read(Checkout.bytes(file), name: file)
    let names = Set(schema.events.map(\.name))
    for name in [
      "newPlayer", "gameStarted", "clientDevice", "gameEnded", "notificationServices", "notificationOpened",
      "transaction",
      "ddnaRegisterCrossGameUserID", "ddnaForgetMe", "ddnaEventTriggeredAction", "imageMessageAction", "levelUp",
      "missionStarted",
      "missionCompleted", "goalCompleted", "goalAbandoned",
    ] {
      #expect(names.contains(name))
    }
  }

  @Test(arguments: [
    ("newPlayer", #"{"userCountry":"GB","platform":"IOS","sdkVersion":"engage-batch"}"#),
    ("gameStarted", #"{"clientVersion":"3.1","userLocale":"en_GB","pushNotificationToken":"00ffa1","platform":"IOS"}"#),
    (
      "clientDevice",
      #"{"deviceName":"iPhone 8","deviceType":"MOBILE_PHONE","hardwareVersion":"10,1","operatingSystem":"IOS","operatingSystemVersion":"15.4","manufacturer":"Apple Inc","timezoneOffset":"+01:00","userLanguage":"en"}"#
    ),
    (
      "notificationOpened",
      #"{"notificationId":77,"notificationName":"Weekend","campaignId":9001,"communicationSender":"APPLE_NOTIFICATION","communicationState":"OPEN","notificationLaunch":true}"#
    ),
    (
      "transaction",
      #"{"transactionName":"chest","transactionType":"PURCHASE","productsSpent":{"realCurrency":{"realCurrencyType":"USD","realCurrencyAmount":499}},"productsReceived":{"virtualCurrencies":[{"virtualCurrency":{"virtualCurrencyName":"Gold","virtualCurrencyType":"PREMIUM","virtualCurrencyAmount":100}}],"items":[{"item":{"itemName":"Sword","itemType":"Weapon","itemAmount":1}}]},"transactionID":"1000000123","transactionServer":"APPLE","transactionReceipt":"bWFkZSB1cA=="}"#
    ),
    (
      "ddnaEventTriggeredAction",
      #"{"ddnaEventTriggeredCampaignID":28440,"ddnaEventTriggeredCampaignPriority":0,"ddnaEventTriggeredVariantID":36625,"ddnaEventTriggeredActionType":"gameParameters","ddnaEventTriggeredSessionCount":1}"#
    ),
    ("gameEnded", #"{"platform":"IOS","sdkVersion":"engage-batch"}"#),
  ])
  func theShippedSchemaTakesTheEventsOfTheSDKs(event: String, parameters: String) throws {
    let fixture = try EventFixture(Checkout.text("configs/deltadna-schema.json"))
    #expect(try fixture.findings(event, parameters) == [])
  }

  @Test func problemsBeyondAThousandAreNotNoted() {
    let text = "{\"events\":[" + Array(repeating: "1", count: 1_500).joined(separator: ",") + "]}"
    let inspection = EventSchema.inspect(Array(text.utf8), name: "s.json").inspection
    #expect(inspection.problems.count == 1_000)
    #expect(inspection.problems.first?.path == "/events/0")
    #expect(inspection.problems.last?.path == "/events/999")
  }
}
