import BatchFoundation

/// What a profile of a job changes about it.
package struct JobProfile: Sendable, Hashable {
  package var name: String
  /// The keys that it gives, such as `store` and `settings.Upload.concurrency`, in the order of the file.
  package var keys: [String]
}

/// The section `profiles` of a job: members of a job by name, of which `--profile` lays one over the rest (reference formats 1.6).
struct JobProfiles {
  private(set) var profiles: [JobProfile] = []
  /// The job with the chosen profile over it, without its settings, which are a layer of their own.
  private(set) var document: DocumentNode
  /// The settings of the chosen profile.
  private(set) var settings: DocumentNode?
  private(set) var faults: [ConfigurationFault] = []
  private let source: String

  static let key = "profiles"

  /// - Parameters:
  ///   - chosen: the name that `--profile` gives; nil for none.
  ///   - source: the job file as messages name it.
  init(_ document: DocumentNode, chosen: String?, source: String) {
    self.document = document
    self.source = source
    guard case .dictionary(var members) = document.value else { return }
    let section = members.first { $0.key == Self.key }
    if let index = members.firstIndex(where: { $0.key == Self.key }) { members.remove(at: index) }
    self.document.value = .dictionary(members)
    var chosenMembers: [DocumentMember]?
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
    settings = chosenMembers.first { $0.key == "settings" }?.node
    self.document.value = .dictionary(Self.merged(members, chosenMembers.filter { $0.key != "settings" }))
  }

  private mutating func named(_ section: DocumentMember) -> [(name: String, members: [DocumentMember])] {
    guard case .dictionary(let profiles) = section.node.value else {
      fault(section.line, "'\(Self.key)' is \(section.node.kind), but must be a dictionary of profiles")
      return []
    }
    var result: [(String, [DocumentMember])] = []
    var names: Set<String> = []
    for profile in profiles {
      guard names.insert(profile.key).inserted else {
        fault(profile.line, "the profile '\(profile.key)' is given twice")
        continue
      }
      switch profile.node.value {
      case .dictionary(let members): result.append((profile.key, members))
      case .null: result.append((profile.key, []))
      default: fault(profile.line, "the profile '\(profile.key)' is \(profile.node.kind), but must be a dictionary")
      }
    }
    return result
  }

  /// The members that a job can have, with a value and once each.
  private mutating func checked(_ members: [DocumentMember], of profile: String) -> [DocumentMember] {
    var result: [DocumentMember] = []
    for member in members {
      let name = "\(Self.key).\(profile).\(member.key)"
      guard JobReader.keys.contains(member.key), member.key != Self.key else {
        fault(
          member.line, "unknown key '\(name)'",
          hint: faults.count < ConfigurationErrors.most
            ? NearestName.question(about: member.key, among: JobReader.keys)
              ?? "a profile has the keys of a job" : nil)
        continue
      }
      guard !result.contains(where: { $0.key == member.key }) else {
        fault(member.line, "key '\(name)' is set twice")
        continue
      }
      if case .null = member.node.value { continue }
      if member.key == "settings" { refuseSecrets(member.node, name) }
      result.append(member)
    }
    return result
  }

  /// A profile is chosen by whoever starts the program; secrets come from files and the environment alone.
  private mutating func refuseSecrets(_ settings: DocumentNode, _ name: String) {
    guard case .dictionary(let sections) = settings.value else { return }
    for section in sections {
      guard case .dictionary(let members) = section.node.value else { continue }
      for member in members where SettingsSchema.current.setting(section.key, member.key)?.isSecret ?? false {
        fault(
          member.line, "'\(name).\(section.key).\(member.key)' is a secret, and no profile holds one",
          hint: "set the variables of each environment, or name files with those that end in _FILE")
      }
    }
  }

  private mutating func fault(_ line: Int?, _ problem: String, hint: String? = nil) {
    faults.append(ConfigurationFault(Place(source, line: line), problem, hint: hint))
  }

  /// Dictionaries merge, anything else replaces.
  private static func merged(_ base: [DocumentMember], _ over: [DocumentMember]) -> [DocumentMember] {
    var result = base
    for member in over {
      guard let index = result.firstIndex(where: { $0.key == member.key }) else {
        result.append(member)
        continue
      }
      if case .dictionary(let own) = result[index].node.value, case .dictionary(let others) = member.node.value {
        result[index].node.value = .dictionary(merged(own, others))
      } else if member.node.value != .null {
        result[index] = member
      }
    }
    return result
  }

  private static func keys(_ member: DocumentMember) -> [String] {
    guard case .dictionary(let members) = member.node.value, !members.isEmpty else { return [member.key] }
    return members.flatMap { keys($0).map { "\(member.key).\($0)" } }
  }
}
