package import BatchFoundation

extension SessionConfiguration {
  /// Reads a saved answer of Engage to `config`: an object with `parameters`.
  ///
  /// - Throws: ``FileError`` with all faults at once (reference deltadna 7). Other flaws are among ``notes``.
  package static func read(_ bytes: [UInt8], name: String) throws(FileError) -> SessionConfiguration {
    var reader = SessionConfigurationReader(bytes: bytes, name: name)
    return try reader.read()
  }
}

struct SessionConfigurationReader: NotingReader {
  let texts = TextOwner()
  let bytes: [UInt8]
  let name: String
  var notes: [FileNote] = []
  var faults: [FileNote] = []
  /// The number of triggers so far with the same event, campaign and variant, by the key of the first.
  fileprivate var twins: [UInt64: UInt64] = [:]

  mutating func read() throws(FileError) -> SessionConfiguration {
    let root: JSONNode
    do {
      root = try JSONNode.parse(bytes)
    } catch {
      throw self.error(error)
    }
    guard let parameters = root["parameters"], parameters.members != nil else {
      let given = root["parameters"].map { "'parameters' is \($0.kind), not an object" }
      let message =
        given ?? (root.members == nil ? "the file is \(root.kind), not an object" : "'parameters' is missing")
      throw error((root["parameters"] ?? root).place, message)
    }
    let events = readList("eventsWhitelist", in: parameters)
    let decisionPoints = readList("dpWhitelist", in: parameters)
    warnAboutDecisionPoints(parameters)
    warnAboutImages(parameters)
    let triggers = readTriggers(parameters)
    guard faults.isEmpty else {
      throw FileError(faults: faults.sorted { $0.place < $1.place })
    }
    return SessionConfiguration(
      triggers: triggers, eventsWhitelist: events, decisionPointWhitelist: decisionPoints,
      notes: notes.sorted { $0.place < $1.place }, texts: texts)
  }

  // MARK: Lists

  private mutating func readList(_ key: String, in parameters: JSONNode) -> [String] {
    guard let node = parameters.present(key), let elements = array(node, "'\(key)'") else { return [] }
    if elements.isEmpty { warn(node.place, "'\(key)' is empty; nothing is filtered") }
    return elements.compactMap { element in
      if element.string == nil { fail(element.place, "'\(key)' has \(element.kind) that is not a string") }
      return element.string
    }
  }

  private mutating func warnAboutDecisionPoints(_ parameters: JSONNode) {
    for element in parameters["dpWhitelist"]?.array ?? [] {
      guard let text = element.string, !text.utf8.contains(UInt8(ascii: "@")) else { continue }
      warn(
        element.place,
        "'\(text)' has no flavour; write entries as 'point@flavour'. This one allows nothing")
    }
  }

  private mutating func warnAboutImages(_ parameters: JSONNode) {
    guard let images = parameters.present("imageCache"),
      let elements = array(images, "'imageCache'", otherwise: "it is ignored")
    else { return }
    for element in elements where element.string == nil {
      warn(element.place, "'imageCache' has \(element.kind) that is not a string; it is ignored")
    }
  }

  // MARK: Triggers

  private mutating func readTriggers(_ parameters: JSONNode) -> [Trigger] {
    guard let node = parameters.present("triggers"), let elements = array(node, "'triggers'") else { return [] }
    return elements.compactMap { readTrigger($0) }
  }

  private mutating func readTrigger(_ node: JSONNode) -> Trigger? {
    guard isObject(node, "a trigger") else { return nil }
    let event = node.present("eventName")?.string
    if event == nil {
      let given = node.present("eventName").map { "is \($0.kind), not a string" } ?? "is missing"
      fail((node.present("eventName") ?? node).place, "'eventName' of a trigger \(given)")
    }
    let campaignID = readInteger("campaignID", in: node) ?? -1
    let variantID = readInteger("variantID", in: node) ?? -1
    let priority = readInteger("priority", in: node) ?? 0
    let limit = readInteger("limit", in: node)
    let showConditions = readShowConditions(node)
    let condition = readCondition(node)
    guard let event else { return nil }
    let response = readObject("response", in: node, "the trigger changes game parameters")
    let origin = response.flatMap { readObject("eventParams", in: $0, "campaign and variant have no names") }
    return Trigger(
      eventName: texts.own(event), campaignID: campaignID, variantID: variantID, priority: priority,
      action: response?["image"]?.members?.isEmpty == false ? .imageMessage : .gameParameters,
      campaignName: readName("responseEngagementName", in: origin),
      variantName: readName("responseVariantName", in: origin), limit: limit, condition: condition,
      showConditions: showConditions, key: key(event, campaignID, variantID))
  }

  /// Returns a key that is the same in every file in which the trigger has the same position among its equals (FNV-1a).
  private mutating func key(_ event: String, _ campaign: Int64, _ variant: Int64) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    func add(_ value: UInt64) { for shift in 0..<8 { add(UInt8(truncatingIfNeeded: value >> UInt64(shift * 8))) } }
    for byte in event.utf8 { add(byte) }
    add(UInt64(bitPattern: campaign))
    add(UInt64(bitPattern: variant))
    let first = hash
    add(twins[first, default: 0])
    twins[first, default: 0] += 1
    return hash
  }

  private mutating func readInteger(_ key: String, in node: JSONNode) -> Int64? {
    guard let value = node.present(key) else { return nil }
    guard let integer = value.integer else {
      fail(value.place, "'\(key)' is not a 64-bit integer")
      return nil
    }
    return integer
  }

  private mutating func readObject(_ key: String, in node: JSONNode, _ consequence: String) -> JSONNode? {
    guard let value = node.present(key), isObject(value, "'\(key)'", otherwise: consequence) else { return nil }
    return value
  }

  private func readName(_ key: String, in node: JSONNode?) -> Text? {
    guard let name = node?[key]?.string, !name.utf8.isEmpty else { return nil }
    return texts.own(name)
  }

  // MARK: Show conditions

  private mutating func readShowConditions(_ node: JSONNode) -> [ShowCondition] {
    let always = "the trigger has no show conditions"
    guard let configuration = readObject("campaignExecutionConfig", in: node, always),
      let list = configuration.present("showConditions"),
      let elements = array(list, "'showConditions'", otherwise: always)
    else { return [] }
    return elements.compactMap { readShowCondition($0) }
  }

  private mutating func readShowCondition(_ node: JSONNode) -> ShowCondition? {
    let required = readCount("executionsRequiredCount", in: node)
    let interval = readCount("executionsRepeat", in: node)
    let limit = readCount("executionsRepeatLimit", in: node)
    if node.present("executionsRequiredCount") == nil, node.present("executionsRepeat") == nil {
      fail(node.place, "a show condition has neither 'executionsRequiredCount' nor 'executionsRepeat'")
      return nil
    }
    if let interval, interval < 1 {
      fail((node["executionsRepeat"] ?? node).place, "'executionsRepeat' is \(interval), but must be at least 1")
      return nil
    }
    return ShowCondition(
      required: required, repetition: interval.map { ShowCondition.Repetition(interval: $0, limit: limit ?? -1) })
  }

  /// Reads a whole number, or a text that is one.
  private mutating func readCount(_ key: String, in node: JSONNode) -> Int64? {
    guard let value = node.present(key) else { return nil }
    if let integer = value.integer { return integer }
    if let text = value.string, text.utf8.first != UInt8(ascii: "+"), let integer = Int64(text) { return integer }
    fail(value.place, "'\(key)' is neither an integer nor a string with one")
    return nil
  }
}
