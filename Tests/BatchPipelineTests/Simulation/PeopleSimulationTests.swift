import BatchFoundation
import BatchStore
import DestinationContract
import EngageRules
import RecipientModel
import StoreSupport
import Testing

@testable import Engage

/// Who is who, held against what happened: owners of devices change, people log in on second phones, are merged, and are forgotten
/// (reference decisions 58).
@Suite("Simulated people") struct PeopleSimulationTests {
  @Test("Every recipient is one person's, and every event is its person's", arguments: Simulation.seeds(short: 12))
  func everybodyIsOnePerson(seed: UInt64) throws {
    let name = Simulation.name(of: seed)
    let people = SimulatedPeople(seed: seed, holds: seed % 2 == 0)
    let isCalm = seed % 3 != 0
    let play = try SimulatedRuns(people.history, seed: seed)
    var random = SplitMix64(seed: seed &* 13)
    for day in 1...people.history.days.count {
      var lives = 0
      while true {
        lives += 1
        try #require(lives < 60, "\(name): the runs do not come to an end")
        let trouble =
          isCalm || lives > 12
          ? nil : Trouble(lives: lives, [.fault, .transport, .lostReply, .doubled, .late], &random)
        if try play.live(days: day, trouble, random.next()) { break }
      }
    }
    let list = play.recipients.recipients
    for recipient in list.keys.sorted() {
      #expect(people.owner(of: recipient, list) != nil, "\(name): \(recipient) is nobody's: \(list[recipient] ?? [:])")
    }
    for event in play.sent.withLock({ $0 }) { try check(event, people, list, isCalm: isCalm, name) }
    // Each id has one recipient that stays.
    for user in people.people.flatMap(\.users) {
      #expect(
        list.values.count { $0["Mobile User Id"] == user && $0["Merged Recipient Id"] == nil } <= 1, "\(name): \(user)")
    }
    if isCalm { try compareOneRun(of: people.history, seed, play, name) }
    try forget(people, play, list, &random, name)
  }

  /// The same lines in one run come to the same as in nights, but for the numbers of recipients and the dates of merges.
  private func compareOneRun(
    of history: SimulatedHistory, _ seed: UInt64, _ nights: SimulatedRuns, _ name: String
  ) throws {
    let oneRun = try SimulatedRuns(history, seed: seed)
    #expect(try oneRun.live(days: history.days.count), "\(name): one run leaves something")
    let plays = [oneRun, nights].map { play in
      let sent = play.sent.withLock { $0.sorted { ($0.number, $0.at) < ($1.number, $1.at) } }
      let list = play.recipients.recipients
      // A recipient that the runs added is known by the first event that names it, or by the first that names one that went up in it.
      var names = Dictionary(uniqueKeysWithValues: history.recipients.keys.map { ($0, $0) })
      for event in sent where names[event.recipient] == nil { names[event.recipient] = "of \(event.number)" }
      for (id, columns) in list.sorted(by: { $0.key < $1.key }) where names[id] == nil {
        names[id] = "\(columns["Mobile User Id"] ?? "")"
      }
      return (
        sent.map { [names[$0.recipient] ?? "", $0.user, $0.device, "\($0.at)"] },
        list.map { id, columns in
          let mark = columns["Merged Recipient Id"].map { [names[$0] ?? $0] } ?? []
          return [names[id] ?? "", columns["Mobile User Id"] ?? "", columns["customer_id"] ?? ""] + mark
        }.sorted { $0.lexicographicallyPrecedes($1) }
      )
    }
    #expect(plays[0].0 == plays[1].0, "\(name): events of one run")
    #expect(plays[0].1 == plays[1].1, "\(name): recipients of one run")
  }

  private func check(
    _ event: SimulatedHistory.Sent, _ people: SimulatedPeople, _ list: [String: [String: String]], isCalm: Bool,
    _ name: String
  ) throws {
    let span = try #require(people.span(of: event.device, at: event.at), "\(name): \(event)")
    let person = people.people[span.person]
    #expect(people.owner(of: event.user) == person.number, "\(name): \(event) names another than \(span)")
    #expect(people.owner(of: event.recipient, list) == person.number, "\(name): \(event) went to another than \(span)")
    guard isCalm else { return }
    // From the first look-up by the customer's id on it is the recipient that the customer had.
    if span.user == person.web {
      #expect(event.recipient == person.recipient, "\(name): \(event), \(span)")
    } else if let recipient = person.recipient {
      let first = people.wentUp(in: person)[span.user] ?? .max
      #expect((event.recipient == recipient) == (event.at > first), "\(name): \(event), \(span), looked up at \(first)")
    }
  }

  /// Whoever is forgotten is gone, and nobody else is.
  private func forget(
    _ people: SimulatedPeople, _ play: SimulatedRuns, _ list: [String: [String: String]], _ random: inout SplitMix64,
    _ name: String
  ) throws {
    let store = try play.open()
    defer { #expect(throws: Never.self) { try store.close() } }
    let person = people.people[Int.random(in: 0..<people.people.count, using: &random)]
    let (gone, kept) = try recipients(store, person.users.map { PersonID(.mobileUserID, $0) }, list)
    let own = Set(list.keys.filter { people.owner(of: $0, list) == person.number })
    #expect(gone.subtracting(own).isEmpty, "\(name): others than \(person) went: \(gone.subtracting(own))")
    let automatic = people.automaticIDs(of: person)
    #expect(
      people.recipients(with: person.users, list)
        .union(list.filter { automatic.contains($0.value["Mobile User Id"] ?? "") }.keys).isSubset(of: gone),
      "\(name): \(person), not \(gone)")
    // Only the recipient of an id that no device records may stay, and is named.
    if !kept.contains(person.recipient ?? "") || !person.web.hasPrefix("web") {
      #expect(gone == people.recipients(with: person.users + automatic, list), "\(name): \(person)")
    }

    let device = people.spans.keys.sorted()[Int.random(in: 0..<people.spans.count, using: &random)]
    let ofDevice = try recipients(store, [PersonID(.device, device)], list).gone
    for recipient in ofDevice {
      let user = list[recipient]?["Mobile User Id"] ?? ""
      #expect(people.devices(with: user).isSubset(of: [device]), "\(name): \(device) took \(recipient) of \(user)")
    }
    for user in Set(people.spans[device, default: []].map(\.user)) where people.devices(with: user) == [device] {
      for (recipient, columns) in list where columns["Mobile User Id"] == user && columns["Merged Recipient Id"] == nil
      {
        let isOthers = list.contains { $0.value["Merged Recipient Id"] == recipient }
        #expect(isOthers || ofDevice.contains(recipient), "\(name): \(user) of \(device) is not gone")
      }
    }
  }

  /// What `forget --at-service` deletes, and what it leaves because it may be another's.
  private func recipients(
    _ store: EventStore, _ ids: [PersonID], _ list: [String: [String: String]]
  ) throws -> (gone: Set<String>, kept: Set<String>) {
    let traces = try store.identities.serviceTraces(of: ids)
    let named = Set(list.filter { traces.mobileUsers.contains($0.value["Mobile User Id"] ?? "") }.keys)
    return (traces.recipients.union(named).subtracting(traces.kept).intersection(list.keys), traces.kept)
  }
}

extension SimulatedPeople {
  /// When ids went up in the recipient that a customer had before the first day, as devices recorded them and looked her up. The first
  /// recorded id after an automatic one that went up in it follows, unless it belongs to another id that a device had recorded by then.
  func wentUp(in person: Person) -> [String: Int64] {
    let automatic = Set(spans.keys.map { AutomaticMobileUserId.id(of: $0) })
    let all = spans.values.joined()
    // A check may be of the record that names its id first.
    var steps = checks.filter { owner(of: $0.user) == person.number }.map { (at: $0.at, user: $0.user, login: "") }
    for spans in spans.values where spans.count > 1 && spans[1].person == person.number {
      guard automatic.contains(spans[0].user), spans[0].person == person.number,
        spans[1].at == all.filter({ $0.user == spans[1].user }).map(\.at).min()
      else { continue }
      steps.append((spans[1].at, spans[0].user, spans[1].user))
    }
    var (holder, wentUp): (String, [String: Int64]) = (person.web, [:])
    for (at, user, login) in steps.sorted(by: { ($0.at, $1.login) < ($1.at, $0.login) }) {
      if login.isEmpty {
        if wentUp[user] == nil { wentUp[user] = at }
        if holder.isEmpty { holder = user }
      } else if let first = wentUp[user], login != person.web {
        if !automatic.contains(holder), Self.isRecorded(holder, before: at, in: spans) { continue }
        wentUp[login] = first
        if automatic.contains(holder) { holder = login }
      }
    }
    return wentUp
  }

  /// The automatic ids before a person's logins.
  func automaticIDs(of person: Person) -> [String] {
    spans.filter { device, spans in
      spans.count > 1 && person.users.contains(spans[1].user) && spans[0].person == person.number
        && spans[0].user == AutomaticMobileUserId.id(of: device)
    }.map(\.value[0].user)
  }

  /// Recipients that have one of some mobile user ids, and all that were merged with those.
  func recipients(with users: [String], _ list: [String: [String: String]]) -> Set<String> {
    var found: Set<String> = []
    var added = Set(list.filter { users.contains($0.value["Mobile User Id"] ?? "") }.keys)
    while !added.isEmpty {
      found.formUnion(added)
      let merged = list.flatMap { id, columns in
        let winner = columns["Merged Recipient Id"] ?? ""
        return winner.isEmpty ? [] : added.contains(id) ? [winner] : added.contains(winner) ? [id] : []
      }
      added = Set(merged).subtracting(found)
    }
    return found
  }
}
