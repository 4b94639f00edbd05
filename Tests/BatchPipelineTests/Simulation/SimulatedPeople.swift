import BatchFoundation
import EngageRules
import StoreSupport

/// People with phones of their own and tablets that they share, what the devices recorded on some days, and whom the service knows.
///
/// It knows who is who by what happened, and by none of the program's rules.
struct SimulatedPeople {
  struct Person {
    var number: Int
    /// Mobile user ids that her logins record.
    var users: [String]
    var customer: String { "c-\(number)" }
    /// Her recipient before the first day; nil for none.
    var recipient: String?
    /// The mobile user id of that one, which may be one of hers; empty for none.
    var web: String
  }

  /// From an instant on the device records an id.
  struct Span {
    var at: Int64
    var person: Int
    var user: String
  }

  /// 2025-12-30: all four days are over by the clock of the runs.
  static let firstDay: Int64 = 1_767_052_800_000
  let history: SimulatedHistory
  let people: [Person]
  /// By device, in the order of time.
  private(set) var spans: [String: [Span]] = [:]
  /// The ids that devices recorded when they asked for a customer, and when.
  private(set) var checks: [(user: String, at: Int64)] = []

  init(seed: UInt64, holds: Bool) {
    var random = SplitMix64(seed: seed)
    var recipients: [String: [String: String]] = [:]
    let people = (0..<Int.random(in: 2...4, using: &random)).map { number in
      let kind = Int.random(in: 0..<5, using: &random)
      let person = Person(
        number: number, users: (0..<Int.random(in: 1...2, using: &random)).map { "user-\(number)-\($0)" },
        recipient: kind == 0 ? nil : "\(900_000_000_500 + number)",
        web: kind < 2 ? "" : kind == 2 ? "web-\(number)" : "user-\(number)-0")
      if let recipient = person.recipient {
        recipients[recipient] = ["customer_id": person.customer, "Mobile User Id": person.web]
      }
      return person
    }
    var (days, device, event): ([String], [String: Int], Int) = ([], [:], 0)
    let devices = (0..<Int.random(in: 2...5, using: &random)).map { "d-\($0)" }
    // A device without a login is whose login comes first.
    for name in devices { device[name] = Int.random(in: 0..<people.count, using: &random) }
    var names: [String: String] = [:]
    // Devices that nobody has logged in on, and that went up in the recipient of an id.
    var anonymous: [String: String] = [:]
    for day in 0..<4 {
      var lines = ""
      for (place, name) in devices.enumerated() where Int.random(in: 0..<4, using: &random) > 0 {
        for record in 0..<Int.random(in: 1...6, using: &random) {
          let at = Self.firstDay + Int64(day) * 86_400_000 + Int64(record * 3_600_000 + place * 60_000 + 1)
          var line = #"{"deviceId":"\#(name)","timestamp":\#(at)"#
          // Half of the devices are shared.
          let isSomebodys = names[name] != nil || Self.isRecorded(anonymous[name], before: at, in: spans)
          // One that nobody has logged in on is looked up and handed on more often.
          let isFresh = place % 2 == 1 && names[name] == nil
          let changes =
            isSomebodys && place % 2 == 1 && Int.random(in: 0..<(isFresh ? 2 : 4), using: &random) == 0
          if changes { device[name] = Int.random(in: 0..<people.count, using: &random) }
          let owner = people[device[name] ?? 0]
          if changes || Int.random(in: 0..<(isFresh ? 8 : 4), using: &random) == 0 {
            let known = names[name].flatMap { owner.users.contains($0) ? $0 : nil }
            let user = known ?? owner.users[Int.random(in: 0..<owner.users.count, using: &random)]
            names[name] = user
            line += #","mobileUserId":"\#(user)""#
          }
          let user = names[name] ?? AutomaticMobileUserId.id(of: name)
          if spans[name]?.last?.user != user {
            spans[name, default: []].append(Span(at: at, person: owner.number, user: user))
          }
          if Int.random(in: 0..<(isFresh ? 2 : 5), using: &random) == 0 {
            line += #","type":"identify","ids":{"customer_id":"\#(owner.customer)"}}"#
            checks.append((user, at))
            if names[name] == nil { anonymous[name] = owner.web }
          } else {
            event += 1
            line += #","type":"namedEvent","name":"\#(SimulatedHistory.word) \#(event)"}"#
          }
          lines += line + "\n"
        }
      }
      days.append(lines)
    }
    let threads = Simulation.hasSeveralThreads(seed) ? 3 : 1
    let job = """
      {"name": "j", "inputs": {"events": ["in/*"]}, "asOf": "2026-01-03T00:00:00Z", "destination": "engage",
       "identity": true, "store": "store/j.sqlite", "settings": {
        "General": {"databaseListId": "50001"}, "Ingest": {"workers": \(threads)},
        "Recipient": {"knownToKnown": "merge", "holdEventsUntilIdentified": \(holds)},
        "AuditRecord": {"mergeHistoryInAuditRecordTable": true, "auditRecordListId": "50002"},
        "Networking": {"retryBudget": 100000, "breakerFailures": 40},
        "Upload": {"concurrency": \(threads), "maxEventsPerRequest": \(Int.random(in: 1...10, using: &random))}}}
      """
    history = SimulatedHistory(.engageSDK, days: days, job: job, recipients: recipients)
    self.people = people
  }

  /// Whether a device has recorded an id by an instant.
  static func isRecorded(_ id: String?, before at: Int64, in spans: [String: [Span]]) -> Bool {
    spans.values.joined().contains { $0.user == id && $0.at < at }
  }

  /// Whom a device recorded at an instant, and by which id.
  func span(of device: String, at instant: Int64) -> Span? { spans[device]?.last { $0.at <= instant } }

  /// Whose an id is: of whom it names, or of the first login on the device that it was made for.
  func owner(of user: String) -> Int? {
    if let person = people.first(where: { $0.users.contains(user) || (!user.isEmpty && $0.web == user) }) {
      return person.number
    }
    return spans.first { AutomaticMobileUserId.id(of: $0.key) == user }?.value.first?.person
  }

  /// Devices that recorded an id.
  func devices(with user: String) -> Set<String> {
    Set(spans.filter { $0.value.contains { $0.user == user } }.keys)
  }

  /// Whose a recipient is, by what it has and by whom it went up in; nil for one with data of several.
  func owner(of recipient: String, _ list: [String: [String: String]]) -> Int? {
    guard let columns = list[recipient] else { return nil }
    var owners: Set<Int> = []
    if let user = columns["Mobile User Id"] { owners.insert(owner(of: user) ?? -1) }
    if let customer = columns["customer_id"] { owners.insert(people.first { $0.customer == customer }?.number ?? -1) }
    if let mark = columns["Merged Recipient Id"] { owners.insert(owner(of: mark, list) ?? -1) }
    return owners.count == 1 ? owners.first : nil
  }
}
