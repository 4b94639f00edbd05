package import BatchFoundation

/// Finds all problems in events, without allocating memory for events without findings (reference deltadna 6). Not
/// thread-safe: each worker has its own checker.
@safe package struct EventChecker: ~Copyable {
  let table: SchemaTable
  private let hasSchema: Bool
  private let environment: GameEnvironment
  private let largestEvent: Int
  private var path = EventPath()
  private var findings: [EventFinding] = []
  private static let slots = 64
  /// The addresses of the parameters of events without findings, each in a slot that its address determines.
  private var cleared = unsafe InlineArray<64, UnsafeRawPointer?>(repeating: nil)
  private var familiar = FamiliarEvents()
  /// The coverage of the schema so far.
  package private(set) var coverage: SchemaCoverage

  /// - Parameters:
  ///   - schema: the schema to compare events with; nil for none.
  ///   - largestRequest: `maxBytesPerRequest`, in bytes, including everything around the event in its request.
  package init(schema: EventSchema?, environment: GameEnvironment, largestRequest: Int) {
    table = SchemaTable(schema ?? EventSchema(events: []))
    hasSchema = schema != nil
    self.environment = environment
    largestEvent = largestRequest - #"{"eventList":[]}"#.utf8.count
    coverage = SchemaCoverage(of: table)
  }

  /// Returns all findings of an event, each once, sorted by path and id.
  ///
  /// - Parameters:
  ///   - parameters: the event's `eventParams`.
  ///   - byteCount: the length of the event as sent.
  package mutating func findings(
    ofEvent name: Text, parameters: JSONView, byteCount: Int
  ) -> [EventFinding] {
    findings.removeAll(keepingCapacity: true)
    if byteCount > largestEvent { add(.tooLarge) }
    if findings.isEmpty, isFamiliar(name, parameters) { return [] }
    path.enter("eventName")
    if !NameRules.isEventName(name) { add(.badName) }
    let definition = definition(ofEvent: name)
    path.leave()
    path.enter("eventParams")
    checkMembers(
      of: parameters, in: definition?.members ?? .none, comparing: definition?.comparesMembers ?? false, isTop: true)
    path.leave()
    if findings.isEmpty {
      keep(name, parameters, definition)
      return []
    }
    findings.sort(by: EventFinding.precedes)
    return findings.enumerated().filter { $0.offset == 0 || $0.element != findings[$0.offset - 1] }.map(\.element)
  }

  /// Returns all findings of an event, each once, sorted by path and id. An event at the same address as one without
  /// findings is not checked again, so events that share their parameters must have the same name.
  ///
  /// - Parameters:
  ///   - parameters: memory that does not change until ``forgetMemory()``.
  ///   - byteBound: an upper bound on `byteCount` that costs nothing to compute.
  package mutating func findings(
    ofEvent name: Text, shared parameters: JSONView, byteBound: Int, byteCount: @autoclosure () -> Int
  ) -> [EventFinding] {
    let isSmall = byteBound <= largestEvent
    let slot = unsafe Int(bitPattern: parameters.start) >> 4 & (Self.slots - 1)
    if isSmall, unsafe cleared[slot] == parameters.start { return [] }
    let findings = findings(ofEvent: name, parameters: parameters, byteCount: isSmall ? byteBound : byteCount())
    if findings.isEmpty { unsafe cleared[slot] = parameters.start }
    return findings
  }

  /// Forgets the checked events; must be called before their memory is reused.
  package mutating func forgetMemory() {
    for slot in 0..<Self.slots { unsafe cleared[slot] = nil }
  }

  private mutating func definition(ofEvent name: Text) -> SchemaTable.Event? {
    guard hasSchema, name != "ddnaForgetMe" else { return nil }
    guard let number = table.names.value(of: name, in: table.eventNames) else {
      add(.unknownEvent)
      return nil
    }
    coverage.events[number] = true
    let event = table.events[number]
    if !event.isPublished, environment == .live { add(.unpublishedEvent) }
    return event
  }

  private mutating func add(_ id: FindingID) { findings.append(EventFinding(id: id, path: path.pointer)) }

  // MARK: Events like others

  /// Returns whether an earlier event of the same name had the same parameters and no findings, and the values are
  /// valid.
  private mutating func isFamiliar(_ name: Text, _ parameters: JSONView) -> Bool {
    for place in 0..<FamiliarEvents.kept {
      guard let known = familiar.parameters(ofEvent: name, place) else { return false }
      if has(parameters, known) { return true }
    }
    return false
  }

  private mutating func has(_ parameters: JSONView, _ known: FamiliarEvents.Parameters) -> Bool {
    var (members, known) = (parameters.members, known)
    while let (name, value) = members.next() {
      guard let parameter = known.next(), parameter.name == name else { return false }
      if parameter.values.hasFinding(value) ?? hasFinding(value, parameter.node) { return false }
    }
    return known.next() == nil
  }

  /// Returns whether the value has a finding. The finding itself is discarded, because the whole event is then checked.
  private mutating func hasFinding(_ value: JSONView, _ node: Int?) -> Bool {
    check(value, against: node)
    defer { findings.removeAll(keepingCapacity: true) }
    return !findings.isEmpty
  }

  private mutating func keep(_ name: Text, _ parameters: JSONView, _ definition: SchemaTable.Event?) {
    // The schema alone does not determine whether the currency is valid.
    if parameters["realCurrencyType"] != nil { return }
    let scope = definition?.comparesMembers == true ? definition?.members.names : nil
    familiar.keep(name, parameters) { name, value in
      guard let scope, let number = table.names.value(of: name, in: scope) else {
        let isScalar = value.kind != .object && value.kind != .array
        return FamiliarEvents.Parameter(name: name, values: isScalar ? .scalar : .other, node: nil)
      }
      return FamiliarEvents.Parameter(name: name, values: table.nodes[number].familiarValues, node: number)
    }
  }

  // MARK: Objects and arrays

  private mutating func checkMembers(
    of object: JSONView, in scope: SchemaTable.Members, comparing: Bool, isTop: Bool
  ) {
    var required = scope.required
    var members = object.members
    while let (name, value) = members.next() {
      path.enter(name)
      if comparing, let number = table.names.value(of: name, in: scope.names) {
        if table.nodes[number].isRequired { required -= 1 }
        check(value, against: number)
      } else if isTop, NameRules.isReserved(name) {
        add(.reservedName)
      } else {
        if !NameRules.isParameterName(name) { add(.badName) }
        if comparing, !value.isNull { add(.unknownParameter) }
        check(value, against: nil)
      }
      if name.count == 16, let code = value.string, name == "realCurrencyType", !code.isEmpty,
        Currency.digits(of: code) == nil
      {
        add(.notInEnumeration)
      }
      path.leave()
    }
    if comparing, required > 0 { addMissing(of: object, in: scope) }
  }

  private mutating func addMissing(of object: JSONView, in scope: SchemaTable.Members) {
    for index in scope.firstRequired..<scope.firstRequired + scope.required {
      table.nodeNames[Int(table.requiredNodes[Int(index)])].withText { name in
        guard object[name] == nil else { return }
        path.enter(name)
        add(.missingRequired)
        path.leave()
      }
    }
  }

  private mutating func checkElements(of array: JSONView, against items: Int32) {
    var index = 0
    var elements = array.elements
    while let element = elements.next() {
      path.enter(index)
      check(element, against: items >= 0 ? Int(items) : nil)
      path.leave()
      index += 1
    }
  }

  // MARK: Values

  /// - Parameter number: the index of the schema's node for the value; nil if it is not compared with the schema.
  private mutating func check(_ value: JSONView, against number: Int?) {
    let node = number.map { table.nodes[$0] }
    if let number { coverage.nodes[number] = true }
    switch value.kind {
    case .null: add(.nullValue)
    case .string:
      let text = value.string ?? .empty
      if text.isEmpty { add(.emptyValue) }
      if let node { check(text, against: node) }
    case .number:
      switch node?.type {
      case .integer where value.number?.isInteger64 != true: add(.wrongType)
      case nil, .integer, .float: break
      default: add(.wrongType)
      }
    case .no, .yes:
      if let node, node.type != .boolean { add(.wrongType) }
    case .object:
      let fits = node?.type == .object
      if node != nil, !fits { add(.wrongType) }
      checkMembers(
        of: value, in: fits ? node?.members ?? .none : .none, comparing: fits && node?.comparesMembers == true,
        isTop: false)
    case .array:
      let fits = node?.type == .array
      if node != nil, !fits { add(.wrongType) }
      checkElements(of: value, against: fits ? node?.items ?? -1 : -1)
    }
  }

  private mutating func check(_ text: Text, against node: SchemaTable.Node) {
    switch node.type {
    case .string:
      guard !text.isEmpty else { return }
      for id in table.faults(of: text, node) { add(id) }
    case .timestamp:
      if !text.isEmpty, Instant(eventTimestamp: text) == nil { add(.badTimestamp) }
    default: add(.wrongType)
    }
  }
}

extension SchemaTable.Node {
  fileprivate var familiarValues: FamiliarEvents.Values {
    switch type {
    case .integer: .integer
    case .float: .number
    case .boolean: .boolean
    case .string where !isEnumerated && format < 0 && maxLength == .max: .text
    case .string, .timestamp, .object, .array: .other
    }
  }
}
