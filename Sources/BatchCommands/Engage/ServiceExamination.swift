import BatchConfiguration
import BatchFoundation
import BatchWire
import Engage

/// An examination of whether the configuration fits the service. It changes nothing at the service.
struct ServiceExamination {
  let service: EngageService
  let settings: Settings
  /// Whether the job checks identities; if not, missing columns are only warnings.
  let identity: Bool
  /// False for a sandbox, which has a separate clock.
  let comparesClocks: Bool
  var found: DoctorFindings

  mutating func run() {
    guard signsIn() else { return }
    checkList()
    checkAudit()
    checkEventTypes()
    checkEventErrors()
    if comparesClocks { checkClock() }
  }

  // MARK: Credentials and clock

  private mutating func signsIn() -> Bool {
    switch service.authenticate() {
    case .success:
      found.ok("credentials", "\(service.address.origin)\(service.address.path) issued a token")
      return true
    case .failure(let failure):
      let setting =
        switch failure.stop {
        case .credentials: "Connection.clientId, Connection.secret, Connection.refreshToken"
        case nil where failure.isTemporary: String?.none
        default: "Connection.baseUrl, Connection.oauthPath"
        }
      found.error("credentials", failure.reason, setting: setting, exit: Self.exit(failure.stop))
      return false
    }
  }

  private mutating func checkClock() {
    guard let offset = service.counters.clockOffset else {
      found.warning("clock", "the service's responses have no Date header, so the clocks cannot be compared")
      return
    }
    let seconds = Int(offset.magnitude)
    if seconds > 60 {
      found.warning(
        "clock",
        "this machine's clock is \(Milliseconds(Int64(seconds) * 1000).inWords) "
          + "\(offset > 0 ? "behind" : "ahead of") the service's; synchronize it with NTP")
    } else {
      found.ok("clock", "within \(seconds) s of the service's clock")
    }
  }

  // MARK: Lists

  private mutating func checkList() {
    let list = settings.general.listId
    guard !list.isEmpty else { return found.ok("list", "no list is set; without 'identity', none is needed") }
    let identities = IdentitySettings(settings)
    let described = examine("list", list, setting: "General.databaseListId", NeededColumn.ofList(identities))
    guard identity, let described, let objection = KeyObjection(identities, listKey: described.keyColumns) else {
      return
    }
    found.error("list", objection.reason, setting: objection.setting, exit: .configuration)
  }

  private mutating func checkAudit() {
    guard settings.audit.isWritten, !settings.audit.tableId.isEmpty else { return }
    let table = settings.audit
    let described = examine(
      "audit table", table.tableId, setting: "AuditRecord.auditRecordListId", NeededColumn.ofAuditTable(table))
    guard let described, let objection = KeyObjection(table, tableKey: described.keyColumns) else { return }
    object("audit table", objection.reason, setting: objection.setting)
  }

  /// Adds an error if the job checks identities, because its runs would be refused; otherwise adds a warning.
  private mutating func object(_ check: String, _ reason: String, setting: String) {
    if identity {
      found.error(check, reason, setting: setting, exit: .configuration)
    } else {
      found.warning(check, reason, setting: setting)
    }
  }

  /// Returns the list's description; nil if the service gave none.
  private mutating func examine(
    _ check: String, _ id: String, setting: String, _ needs: [NeededColumn]
  ) -> ListDescription? {
    let outcome = service.call(.describe(id))
    guard case .answered(let description) = outcome else {
      let reason = outcome.reason ?? ""
      if case .rejected = outcome {
        object(check, "\(id): \(reason)", setting: setting)
      } else {
        found.error(check, reason, setting: "Connection.xmlapiPath", exit: Self.exit(outcome.stop))
      }
      return nil
    }
    found.ok(check, "\(id): '\(description.name)', \(description.columns.count.counted("column"))")
    for need in needs { match(need, check, id, description) }
    return description
  }

  private mutating func match(_ need: NeededColumn, _ check: String, _ id: String, _ list: ListDescription) {
    guard let column = list.columns.first(where: { $0.name.isIdentical(to: need.name) }) else {
      return object(check, "\(id) has no column '\(need.name)'", setting: need.setting)
    }
    guard let objection = need.objection(to: column) else {
      return found.ok(check, "\(id) has the column '\(need.name)'")
    }
    found.warning(check, "\(id): \(objection)", setting: need.setting)
  }

  // MARK: Events

  /// Checks which event codes the account knows, and suggests a profile that fits better.
  private mutating func checkEventTypes() {
    let check = "event types"
    let codes = settings.general.eventCodes
    var isKnown: [String: Bool] = [:]
    for (code, _) in ([codes] + EventCodes.profiles).flatMap(\.byCode) + [(EventCodes.deliveryStatus, [])]
    where isKnown[code] == nil {
      let outcome = service.get("/rest/eventtypes/\(code)")
      if case .refused(let fault) = outcome, fault.stop == .configuration {
        isKnown[code] = false
      } else if let reason = outcome.reason {
        return found.warning(check, reason)
      } else {
        isKnown[code] = true
      }
    }
    func words(_ codes: Codes) -> String {
      codes.map { "\($0.code) (\($0.kinds.map(\.words).joined(separator: ", ")))" }.joined(separator: ", ")
    }
    let known = codes.byCode.filter { isKnown[$0.code] == true }
    let unknown = codes.byCode.filter { isKnown[$0.code] == false }
    if !known.isEmpty { found.ok(check, "known to the service: \(words(known))") }
    if !unknown.isEmpty {
      let advice = Self.otherProfile(codes, isKnown).map { other in
        other.missing.isEmpty
          ? "the service knows all codes of '\(other.profile)': set General.eventCodes to that profile"
          : "the service knows \(words(other.known)) of '\(other.profile)': set General.eventCodes to that profile, and ask the service's support team to enable "
            + "\(words(other.missing)), or give these events empty codes in General.eventCodes"
      }
      found.warning(
        check,
        "not known to the service: \(words(unknown)); \(advice ?? "ask the service's support team to enable universal behaviors")",
        setting: "General.eventCodes")
    }
    if codes[.receivedNotification].code.isEmpty, isKnown[EventCodes.deliveryStatus] == true {
      found.ok(
        check,
        "the service knows code \(EventCodes.deliveryStatus) (push delivery status), but received notifications are not sent; to send them, set General.eventCodes to "
          + "{\"base\": \"\(codes.profile)\", \"receivedNotification\": {\"code\": \"\(EventCodes.deliveryStatus)\"}}"
      )
    }
  }

  private typealias Codes = [(code: String, kinds: [EventKind])]

  /// Returns a profile that fits the account better: all its codes are known, or some are while none of the current
  /// codes is. Some codes are disabled in every account until requested.
  private static func otherProfile(_ codes: EventCodes, _ isKnown: [String: Bool]) -> (
    profile: String, known: Codes, missing: Codes
  )? {
    let others = EventCodes.profiles.filter { $0.profile != codes.profile }.map { profile in
      (
        profile: profile.profile, known: profile.byCode.filter { isKnown[$0.code] == true },
        missing: profile.byCode.filter { isKnown[$0.code] != true }
      )
    }
    let isKnownNow = codes.byCode.contains { isKnown[$0.code] == true }
    return others.first { $0.missing.isEmpty || !isKnownNow && !$0.known.isEmpty }
  }

  private mutating func checkEventErrors() {
    guard let reason = service.eventErrors().reason else {
      return found.ok(
        "events",
        "rejected events can be read back; submission is not tested, because a test would leave an event in the service"
      )
    }
    found.warning("events", "rejected events cannot be read back: \(reason)", setting: "Connection.eventErrorsPath")
  }

  private static func exit(_ stop: ServiceStop?) -> RunExit {
    stop?.exit ?? .serviceUnavailable
  }
}

/// The names of column types, which are numbers in databases and words in relational tables (reference identity 3.2).
enum ColumnTypeName {
  private static let names: [String: String] = [
    "0": "text", "1": "yes/no", "2": "number", "3": "date", "4": "time", "5": "country", "6": "selection",
    "8": "segmenting", "9": "system", "13": "SMS opt-in", "14": "SMS opt-out date", "15": "SMS phone", "16": "phone",
    "17": "timestamp", "19": "sync id", "20": "multi-selection", "TEXT": "text", "YESNO": "yes/no",
    "NUMERIC": "number", "DATE": "date", "TIME": "time", "COUNTRY": "country", "SELECTION": "selection",
    "EMAIL": "text", "DATE_TIME": "timestamp", "SYNC_ID": "sync id",
  ]

  static func of(_ type: String) -> String { names[type] ?? type }
}

extension NeededColumn {
  /// Returns what is wrong with the type of the list's column; nil if it can hold the values. System columns, which have
  /// no type, can.
  func objection(to column: ListDescription.ListColumn) -> String? {
    guard let type = column.type.map(ColumnTypeName.of), !types.contains(type) else { return nil }
    return "the column '\(name)' has type \(type) instead of \(types.sorted().joined(separator: " or "))"
  }
}
