package import BatchFoundation

extension SessionConfiguration {
  /// Reads Engage's saved response to `config`: an object with `parameters`.
  ///
  /// - Throws: ``FileError`` with all faults in the file (reference deltadna 7). Lesser problems are in ``notes``.
  package static func read(_ bytes: [UInt8], name: String) throws(FileError) -> SessionConfiguration {
    var reader = SessionConfigurationReader(faults: DocumentFaults(name, isForeign: true))
    return try reader.read(bytes)
  }
}

struct SessionConfigurationReader {
  let texts = Arena(blockSize: 1 << 12)
  let faults: DocumentFaults
  /// The number of triggers read so far with the same event, campaign and variant, keyed by the hash of these three.
  private var twins: [UInt64: UInt64] = [:]

  fileprivate init(faults: DocumentFaults) { self.faults = faults }

  fileprivate mutating func read(_ bytes: [UInt8]) throws(FileError) -> SessionConfiguration {
    let root = faults.json(bytes).flatMap { Fields($0, "the file", faults) }
    let parameters = root?.required("parameters")?.object()
    let events = readList(parameters?["eventsWhitelist"])
    let decisionPoints = readList(parameters?["dpWhitelist"])
    warnAboutDecisionPoints(parameters?["dpWhitelist"])
    warnAboutImages(parameters?["imageCache"])
    let triggers = (parameters?["triggers"]?.elements() ?? []).compactMap { readTrigger($0) }
    try faults.throwErrors()
    return SessionConfiguration(
      triggers: triggers, eventsWhitelist: events, decisionPointWhitelist: decisionPoints, notes: faults.all,
      texts: texts)
  }

  // MARK: Lists

  private func readList(_ field: Field?) -> [String] {
    guard let field, let elements = field.elements() else { return [] }
    if elements.isEmpty { faults.warn(field.place, "'\(field.name)' is empty; nothing is filtered") }
    return elements.compactMap { $0.anyText() }
  }

  private func warnAboutDecisionPoints(_ field: Field?) {
    for element in field?.node.array ?? [] {
      guard let text = element.string, !text.utf8.contains(UInt8(ascii: "@")) else { continue }
      faults.warn(
        element.place,
        "'\(text)' has no flavour, so it allows nothing; write it as 'point@flavour'")
    }
  }

  private func warnAboutImages(_ field: Field?) {
    for element in array(field, otherwise: "it is ignored") ?? [] where element.string == nil {
      faults.warn(element.place, "an element of 'imageCache' is \(element.kind), not a string; it is ignored")
    }
  }

  /// Returns the elements of an array; nil if the value is missing, or, with a warning, if it is not an array.
  func array(_ field: Field?, otherwise consequence: String) -> [JSONNode]? {
    if let field, field.node.array == nil {
      faults.warn(field.place, "'\(field.name)' is \(field.node.kind), not an array; \(consequence)")
    }
    return field?.node.array
  }

  /// Returns an object; nil if the value is missing, or, with a warning, if it is not an object.
  private func object(_ field: Field?, otherwise consequence: String) -> Fields? {
    guard let field, field.node.members == nil else { return field?.object() }
    faults.warn(field.place, "'\(field.name)' is \(field.node.kind), not an object; \(consequence)")
    return nil
  }

  // MARK: Triggers

  private mutating func readTrigger(_ field: Field) -> Trigger? {
    guard let fields = field.object() else { return nil }
    let event = fields.required("eventName")?.anyText()
    func integer(_ key: String) -> Int64? { fields[key]?.value("a 64-bit integer", \.integer) }
    let (campaignID, variantID) = (integer("campaignID") ?? -1, integer("variantID") ?? -1)
    let (priority, limit) = (integer("priority") ?? 0, integer("limit"))
    let always = "the trigger has no show conditions"
    let conditions = object(fields["campaignExecutionConfig"], otherwise: always)?["showConditions"]
    let showConditions = array(conditions, otherwise: always) == nil ? [] : conditions?.elements() ?? []
    let due = showConditions.compactMap { readShowCondition($0) }
    let condition = readCondition(fields["condition"])
    let response = object(fields["response"], otherwise: "the trigger is treated as one that changes game parameters")
    let origin = object(response?["eventParams"], otherwise: "the campaign and variant have no names")
    guard let event else { return nil }
    return Trigger(
      eventName: texts.text(event), campaignID: campaignID, variantID: variantID, priority: priority,
      action: response?["image"]?.node.members?.isEmpty == false ? .imageMessage : .gameParameters,
      campaignName: readName(origin?["responseEngagementName"]), variantName: readName(origin?["responseVariantName"]),
      limit: limit, condition: condition, showConditions: due, key: key(event, campaignID, variantID))
  }

  /// Returns a key derived from event, campaign, variant and the trigger's position among those with the same three
  /// (FNV-1a). It does not depend on the rest of the file.
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

  private func readName(_ field: Field?) -> Text? {
    guard let name = field?.node.string, !name.utf8.isEmpty else { return nil }
    return texts.text(name)
  }

  // MARK: Show conditions

  private func readShowCondition(_ field: Field) -> ShowCondition? {
    let fields = field.node.members == nil ? nil : field.object()
    let (once, again) = (fields?["executionsRequiredCount"], fields?["executionsRepeat"])
    let (required, interval) = (once.flatMap(readCount), again.flatMap(readCount))
    let limit = fields?["executionsRepeatLimit"].flatMap(readCount)
    if once == nil, again == nil {
      field.refuse("has neither 'executionsRequiredCount' nor 'executionsRepeat'")
      return nil
    }
    if let again, let interval, interval < 1 {
      again.refuse("is \(interval), but must be at least 1")
      return nil
    }
    return ShowCondition(
      required: required, repetition: interval.map { ShowCondition.Repetition(interval: $0, limit: limit ?? -1) })
  }

  /// Reads an integer, or a string that contains one.
  private func readCount(_ field: Field) -> Int64? {
    field.value("an integer, or a string that contains one") { node in
      node.integer ?? node.string.flatMap { $0.utf8.first == UInt8(ascii: "+") ? nil : Int64($0) }
    }
  }
}

extension SessionConfigurationReader {
  /// Reads a trigger's condition, and warns if it can never hold.
  func readCondition(_ field: Field?) -> Condition {
    if field == nil { return Condition([]) }
    guard let elements = array(field, otherwise: "the condition never holds") else { return .never }
    var tokens: [Condition.Token] = []
    for element in elements {
      guard let token = readToken(element) else { return .never }
      tokens.append(token)
    }
    warnIfNeverTrue(tokens, at: elements)
    return Condition(tokens)
  }

  private func readToken(_ node: JSONNode) -> Condition.Token? {
    guard let members = node.members, members.count == 1, let member = members.first else {
      faults.warn(node.place, "a token is not an object with one key; the condition never holds")
      return nil
    }
    guard let token = token(member.key, member.value) else {
      faults.warn(
        node.place, "the token '\(member.key)' is unknown or its value is unreadable; the condition never holds")
      return nil
    }
    return token
  }

  private func token(_ key: String, _ value: JSONNode) -> Condition.Token? {
    switch Array(key.utf8) {
    case [UInt8(ascii: "p")]: value.string.map { .parameter(texts.text($0)) }
    case [UInt8(ascii: "o")]: value.string.flatMap { Operation(name: $0) }.map { .operation($0) }
    case [UInt8(ascii: "b")]: value.bool.map { .literal(.bool($0)) }
    case [UInt8(ascii: "s")]: value.string.map { .literal(.string(texts.text($0))) }
    case [UInt8(ascii: "t")]:
      value.string.flatMap { Instant(eventTimestamp: texts.text($0)) }.map { .literal(.instant($0)) }
    case [UInt8(ascii: "i")], [UInt8(ascii: "l")], [UInt8(ascii: "f")], [UInt8(ascii: "d")]: number(value)
    default: nil
    }
  }

  /// Returns the token for a number, or for a string that contains one; otherwise nil.
  private func number(_ node: JSONNode) -> Condition.Token? {
    guard let written = node.stringOrNumber else { return nil }
    let text = texts.text(written)
    return ExactDecimal(text) == nil ? nil : .literal(.number(text))
  }

  /// Warns of a condition that cannot hold for any event. Counts the values and tracks which of them are parameters.
  private func warnIfNeverTrue(_ tokens: [Condition.Token], at nodes: [JSONNode]) {
    var isParameter: [Bool] = []
    for (token, node) in zip(tokens, nodes) {
      switch token {
      case .parameter: isParameter.append(true)
      case .literal: isParameter.append(false)
      case .operation:
        guard isParameter.count >= 2 else {
          faults.warn(node.place, "an operator has too few values before it; the condition never holds")
          return
        }
        if isParameter.removeLast() {
          faults.warn(node.place, "a parameter is on the right of an operator; the condition never holds")
          return
        }
        isParameter[isParameter.count - 1] = false
      }
    }
    if let last = nodes.last, isParameter.last == true || tokens.last?.isLiteralOtherThanTrue == true {
      faults.warn(
        last.place, "the condition ends with a parameter or a constant other than true; the condition never holds")
    }
  }
}

extension Condition.Token {
  fileprivate var isLiteralOtherThanTrue: Bool {
    switch self {
    case .literal(.bool(true)): false
    case .literal: true
    case .parameter, .operation: false
    }
  }
}
