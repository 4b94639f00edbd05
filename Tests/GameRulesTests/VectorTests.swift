import BatchFoundation
import GameRules
import TestSupport
import Testing

/// Cases of the SDKs' behaviour that an export can say.
///
/// Left out are those of an SDK's own machinery: `copy`, argument errors for which an export has no spelling (a key that is null), quirks
/// marked `sdkQuirk`, the 32-bit float of Android, tables of 2016 for codes that the reference adds, uploads, headers, geo look-ups,
/// and the push messages that Android shows.
@Suite struct VectorTests {
  private let arena = Arena()

  private static func all(_ area: String, _ kinds: String...) throws -> [VectorCase] {
    try Vectors.cases("deltadna", "vectors") {
      $0["area"]?.string == area && kinds.contains($0["kind"]?.string ?? "") && $0["sdkQuirk"] == nil
    }
  }

  // MARK: - Values

  @Test(arguments: try all("currency", "convert").filter { $0["given", "code"]?.string != "MRU" })
  func `amounts become minor units`(vector: VectorCase) throws {
    let code = try #require(vector["given", "code"]?.string)
    let value = try #require(vector["given", "value"]?.string)
    let digits = Currency.digits(of: arena.text(code))
    #expect((digits == nil) == vector["expect", "warning"]?.bool)
    let units = digits.map { Currency.minorUnits(arena.text(value), digits: $0) } ?? 0
    #expect(units == vector["expect", "minorUnits"]?.integer)
  }

  @Test(arguments: try all("timestamp", "normalise"))
  func `timestamps have the form of the wire`(vector: VectorCase) throws {
    let text = arena.text(try #require(vector["given", "value"]?.string))
    let instant = Instant(eventTimestamp: text)
    #expect((instant != nil) == vector["expect", "valid"]?.bool)
    #expect(instant?.eventTimestamp == vector["expect", "normalised"]?.string)
  }

  // MARK: - Parameters of the device

  private func parameters(_ event: String, device: String) throws -> JSONNode {
    let line = #"{"deviceId":"d","timestamp":1700000000,"type":"launch","device":\#(device)}"#
    let result = try Replay([line]).run()
    let found = try #require(result.events.first { $0.name == event })
    return try #require(JSONNode.parse(Array(found.line.utf8))["eventParams"])
  }

  @Test(arguments: try all("clientInfo", "hardwareVersion"))
  func `the model has a hardware version`(vector: VectorCase) throws {
    let machine = try #require(vector["given", "hwMachine"]?.string)
    let parameters = try parameters("clientDevice", device: #"{"version":"\#(machine)"}"#)
    #expect(parameters["hardwareVersion"]?.string == vector["expect", "recommended"]?.string)
  }

  @Test(arguments: try all("clientInfo", "userCountry").filter { $0["given", "region"]?.string != nil })
  func `a country is two capitals`(vector: VectorCase) throws {
    let region = try #require(vector["given", "region"]?.string)
    let parameters = try parameters("newPlayer", device: #"{"country":"\#(region)"}"#)
    #expect(parameters["userCountry"]?.string == vector["expect"]?.string)
  }

  @Test(arguments: try all("clientInfo", "userLanguage").filter { $0["given", "language"]?.string != nil })
  func `a language is two small letters`(vector: VectorCase) throws {
    let language = try #require(vector["given", "language"]?.string)
    let parameters = try parameters("clientDevice", device: #"{"language":"\#(language)"}"#)
    #expect(parameters["userLanguage"]?.string == vector["expect"]?.string)
  }

  @Test(arguments: try all("clientInfo", "userLocale"))
  func `a locale joins both`(vector: VectorCase) throws {
    let language = try #require(vector["given", "language"]?.string)
    let region = try #require(vector["given", "region"]?.string)
    let parameters = try parameters("gameStarted", device: #"{"language":"\#(language)","country":"\#(region)"}"#)
    #expect(parameters["userLocale"]?.string == vector["expect"]?.string)
  }

  // MARK: - Products and transactions

  /// The calls of a builder as an export writes them.
  private func product(_ operations: JSONNode?) -> String {
    var currency = ""
    var virtual: [String] = []
    var items: [String] = []
    func text(_ node: JSONNode?) -> String { node?.string.map { JSONString.quoted($0) } ?? "null" }
    for operation in operations?.array ?? [] {
      let call = operation.array ?? []
      switch call.first?.string {
      case "setRealCurrency":
        currency = #""realCurrency":{"type":\#(text(call[1])),"amount":\#(call[2].integer ?? 0)},"#
      case "addVirtualCurrency":
        virtual.append(#"{"name":\#(text(call[1])),"type":\#(text(call[2])),"amount":\#(call[3].integer ?? 0)}"#)
      case "addItem":
        items.append(#"{"name":\#(text(call[1])),"type":\#(text(call[2])),"amount":\#(call[3].integer ?? 0)}"#)
      default: break
      }
    }
    return
      "{\(currency)\"virtualCurrencies\":[\(virtual.joined(separator: ","))],\"items\":[\(items.joined(separator: ","))]}"
  }

  private func transaction(_ received: String, rest: String = "") -> String {
    #"{"deviceId":"d","timestamp":1700000000,"type":"transaction","name":"n","transactionType":"t","received":\#(received),"spent":{}\#(rest)}"#
  }

  private func parameters(ofLast line: String) throws -> JSONNode {
    let result = try Replay([line]).run()
    let last = try #require(result.lines.last)
    return try #require(JSONNode.parse(Array(last.utf8))["eventParams"])
  }

  @Test(arguments: try all("product", "dictionary"))
  func `products are written as the builders do`(vector: VectorCase) throws {
    let parameters = try parameters(ofLast: transaction(product(vector["given", "ops"])))
    #expect(same(parameters["productsReceived"], vector["expect"]))
  }

  @Test(arguments: try all("product", "error"))
  func `products without name or type are refused`(vector: VectorCase) {
    #expect(Replay([transaction(product(vector["given", "ops"]))]).rejections == ["missing-field"])
  }

  @Test(arguments: try all("transaction", "dictionary"))
  func `transactions have what was set`(vector: VectorCase) throws {
    var rest = ""
    for member in vector["given", "set"]?.members ?? [] {
      rest += ",\(JSONString.quoted(member.key)):\(JSONString.quoted(member.value.string ?? ""))"
    }
    let line = transaction("{}", rest: rest)
      .replacing(#""name":"n""#, #""name":\#(JSONString.quoted(vector["given", "name"]?.string ?? ""))"#)
      .replacing(
        #""transactionType":"t""#, #""transactionType":\#(JSONString.quoted(vector["given", "type"]?.string ?? ""))"#)
    let parameters = try parameters(ofLast: line)
    for member in (vector["expect", "eventParams"] ?? vector["expect", "eventParamsSubset"])?.members ?? [] {
      #expect(same(parameters[member.key], member.value), "\(member.key)")
    }
  }

  @Test(arguments: try all("transaction", "error"))
  func `transactions that the builders refuse are refused`(vector: VectorCase) {
    func member(_ name: String, _ key: String) -> String {
      switch vector["given", key]?.value {
      case .string(let text)?: ",\"\(name)\":\(JSONString.quoted(text))"
      case .object?: ",\"\(name)\":{}"
      default: ""
      }
    }
    var line = #"{"deviceId":"d","timestamp":1700000000,"type":"transaction""#
    line += member("name", "name") + member("transactionType", "type")
    line += member("received", "productsReceived") + member("spent", "productsSpent")
    for one in vector["given", "set"]?.members ?? [] {
      line += ",\"\(one.key)\":\(JSONString.quoted(one.value.string ?? ""))"
    }
    #expect(Replay([line + "}"]).rejections == ["missing-field"])
  }

  @Test(arguments: try all("push", "notificationOpened"))
  func `opened notifications tell their campaign`(vector: VectorCase) throws {
    var payload: [String] = []
    for member in vector["given", "payload"]?.members ?? [] {
      switch member.value.value {
      case .number(let text): payload.append("\(JSONString.quoted(member.key)):\(text)")
      case .string(let text): payload.append("\(JSONString.quoted(member.key)):\(JSONString.quoted(text))")
      default: break
      }
    }
    let launch = vector["given", "didLaunch"]?.bool ?? false
    let parameters = try parameters(
      ofLast:
        #"{"deviceId":"d","timestamp":1700000000,"type":"notificationOpened","device":{"osName":"iOS"},"payload":{\#(payload.joined(separator: ","))},"didLaunch":\#(launch)}"#
    )
    for member in vector["expect", "eventParams"]?.members ?? [] {
      #expect(same(parameters[member.key], member.value), "\(member.key)")
    }
    #expect(parameters.members?.count == (vector["expect", "eventParams"]?.members?.count ?? 0) + 2)
  }

  // MARK: - Sessions

  @Test(arguments: try all("session", "timeout").filter { $0["given", "backgroundSeconds"] != nil })
  func `a session ends after so long in the background`(vector: VectorCase) throws {
    let away = try #require(vector["given", "backgroundSeconds"]?.double)
    let replay = Replay([
      #"{"deviceId":"d","timestamp":1700000000,"type":"launch"}"#,
      #"{"deviceId":"d","timestamp":1700000001,"type":"background"}"#,
      #"{"deviceId":"d","timestamp":\#(1_700_000_001 + away),"type":"foreground"}"#,
    ])
    replay.settings.sessionTimeout = Milliseconds((vector["given", "sessionTimeoutSeconds"]?.integer ?? 0) * 1000)
    #expect(try replay.run().sessionsStarted == (vector["expect", "newSession"]?.bool == true ? 2 : 1))
  }

  /// Equal but for the order of members.
  private func same(_ one: JSONNode?, _ other: JSONNode?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    if let members = one.members, let others = other.members {
      return members.count == others.count && members.allSatisfy { same($0.value, other[$0.key]) }
    }
    if let elements = one.array, let others = other.array {
      return elements.count == others.count && zip(elements, others).allSatisfy { same($0, $1) }
    }
    return one.string == other.string && one.integer == other.integer && one.bool == other.bool
  }
}

extension String {
  fileprivate func replacing(_ old: String, _ new: String) -> String {
    guard let range = firstRange(of: old) else { return self }
    return replacingCharacters(range, new)
  }

  private func firstRange(of text: String) -> Range<String.Index>? {
    for index in indices where self[index...].hasPrefix(text) { return index..<self.index(index, offsetBy: text.count) }
    return nil
  }

  private func replacingCharacters(_ range: Range<String.Index>, _ new: String) -> String {
    String(self[..<range.lowerBound]) + new + String(self[range.upperBound...])
  }
}
