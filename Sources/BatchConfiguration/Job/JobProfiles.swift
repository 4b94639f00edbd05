import BatchFoundation

/// The changes that a profile makes to a job.
package struct JobProfile: Sendable, Hashable {
  package var name: String
  /// The keys that it sets, such as `store` and `settings.Upload.concurrency`, in file order.
  package var keys: [String]
}

/// The section `profiles` of a job: sets of members, one of which `--profile` lays over the job
/// (reference formats 1.6).
struct JobProfiles {
  private(set) var profiles: [JobProfile] = []
  /// The job with the chosen profile laid over it, except the profile's settings, which are a separate layer.
  private(set) var document: JSONNode
  private(set) var settings: JSONNode?
  private(set) var faults: [ConfigurationFault] = []
  private let source: String

  static let key = "profiles"

  /// - Parameter chosen: the name given with `--profile`; nil for none.
  /// - Parameter source: the job file as messages name it.
  init(_ document: JSONNode, chosen: String?, source: String) {
    self.document = document
    self.source = source
    guard case .object(var members) = document.value else { return }
    let section = members.first { $0.key == Self.key }
    if let index = members.firstIndex(where: { $0.key == Self.key }) { members.remove(at: index) }
    self.document.value = .object(members)
    var chosenMembers: [JSONMember]?
    for profile in section.map({ named($0) }) ?? [] {
      let own = checked(profile.members, of: profile.name)
      profiles.append(JobProfile(name: profile.name, keys: own.flatMap { Self.keys($0) }))
      if profile.name == chosen { chosenMembers = own }
    }
    guard let chosen else { return }
    guard let chosenMembers else {
      let names = profiles.map(\.name)
      let hint =
        NearestName.question(about: chosen, among: names)
        ?? (names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))")
      faults.append(ConfigurationFault(Place(source), "the job has no profile '\(chosen)'", hint: hint))
      return
    }
    settings = chosenMembers.first { $0.key == "settings" }?.value
    self.document.value = .object(Self.merged(members, chosenMembers.filter { $0.key != "settings" }))
  }

  private mutating func named(_ section: JSONMember) -> [(name: String, members: [JSONMember])] {
    guard case .object(let profiles) = section.value.value else {
      fault(section.line, "'\(Self.key)' is \(section.value.documentKind), but must be a dictionary of profiles")
      return []
    }
    var result: [(String, [JSONMember])] = []
    var names: Set<String> = []
    for profile in profiles {
      guard names.insert(profile.key).inserted else {
        fault(profile.line, "the profile '\(profile.key)' is given twice")
        continue
      }
      switch profile.value.value {
      case .object(let members): result.append((profile.key, members))
      case .null: result.append((profile.key, []))
      default:
        fault(profile.line, "the profile '\(profile.key)' is \(profile.value.documentKind), but must be a dictionary")
      }
    }
    return result
  }

  /// Returns the members that a job can have, once each and with a value.
  private mutating func checked(_ members: [JSONMember], of profile: String) -> [JSONMember] {
    var result: [JSONMember] = []
    for member in members {
      let name = "\(Self.key).\(profile).\(member.key)"
      guard JobReader.keys.contains(member.key), member.key != Self.key else {
        fault(
          member.line, "unknown key '\(name)'",
          hint: faults.count < ConfigurationErrors.most
            ? NearestName.question(about: member.key, among: JobReader.keys)
              ?? "profiles take the keys of a job" : nil)
        continue
      }
      guard !result.contains(where: { $0.key == member.key }) else {
        fault(member.line, "key '\(name)' is set twice")
        continue
      }
      if member.value.isNull { continue }
      if member.key == "settings" { refuseSecrets(member.value, name) }
      result.append(member)
    }
    return result
  }

  /// Reports secrets: the choice of a profile is free, and secrets come only from files and the environment.
  private mutating func refuseSecrets(_ settings: JSONNode, _ name: String) {
    guard case .object(let sections) = settings.value else { return }
    for section in sections {
      guard case .object(let members) = section.value.value else { continue }
      for member in members where SettingsSchema.current.setting(section.key, member.key)?.isSecret ?? false {
        fault(
          member.line, "'\(name).\(section.key).\(member.key)' is a secret, which profiles cannot hold",
          hint: "set the variables of each environment, or name files with those that end in _FILE")
      }
    }
  }

  private mutating func fault(_ line: Int?, _ problem: String, hint: String? = nil) {
    faults.append(ConfigurationFault(Place(source, line: line), problem, hint: hint))
  }

  /// Merges dictionaries and replaces everything else.
  private static func merged(_ base: [JSONMember], _ over: [JSONMember]) -> [JSONMember] {
    var result = base
    for member in over {
      guard let index = result.firstIndex(where: { $0.key == member.key }) else {
        result.append(member)
        continue
      }
      if case .object(let own) = result[index].value.value, case .object(let others) = member.value.value {
        result[index].value.value = .object(merged(own, others))
      } else if member.value.value != .null {
        result[index] = member
      }
    }
    return result
  }

  private static func keys(_ member: JSONMember) -> [String] {
    guard case .object(let members) = member.value.value, !members.isEmpty else { return [member.key] }
    return members.flatMap { keys($0).map { "\(member.key).\($0)" } }
  }
}
