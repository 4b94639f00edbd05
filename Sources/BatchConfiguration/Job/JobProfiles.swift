import BatchFoundation

/// A profile of a job, with the keys that it changes.
package struct JobProfile: Sendable, Hashable {
  package var name: String
  /// The keys that the profile sets, such as `store` and `settings.Upload.concurrency`, in file order.
  package var keys: [String]
}

/// The section `profiles` of a job: sets of members, one of which `--profile` applies to the job (reference formats
/// 1.6).
struct JobProfiles {
  private(set) var profiles: [JobProfile] = []
  /// The job with the chosen profile merged into it, except the profile's settings, which are a separate layer.
  private(set) var document: JSONNode
  private(set) var settings: JSONNode?
  private let found: DocumentFaults

  var faults: [ConfigurationFault] { found.all }

  static let key = "profiles"

  /// - Parameter chosen: the name given with `--profile`; nil for none.
  /// - Parameter source: the name of the job file in messages.
  init(_ document: JSONNode, chosen: String?, source: String) {
    self.document = document
    found = DocumentFaults(source)
    guard case .object(var members) = document.value else { return }
    let section = members.firstIndex { $0.key == Self.key }.map { members.remove(at: $0) }
    self.document.value = .object(members)
    var chosenMembers: [JSONMember]?
    let field = section.flatMap { $0.value.isNull ? nil : Field(Self.key, $0.value, at: $0.place, found) }
    for (name, profile) in field?.entries("an object of profiles") ?? [] {
      let own = profile.node.isNull ? [] : checked(profile)
      profiles.append(JobProfile(name: name, keys: own.flatMap { Self.keys($0) }))
      if name == chosen { chosenMembers = own }
    }
    guard let chosen else { return }
    guard let chosenMembers else {
      let names = profiles.map(\.name)
      let hint =
        NearestName.question(about: chosen, among: names)
        ?? (names.isEmpty ? "it has no profiles" : "its profiles: \(names.joined(separator: ", "))")
      found.add(nil, "the job has no profile '\(chosen)'", hint: hint)
      return
    }
    settings = chosenMembers.first { $0.key == "settings" }?.value
    self.document.value = .object(Self.merged(members, chosenMembers.filter { $0.key != "settings" }))
  }

  /// Returns the members that a job can have and that have a value, in file order.
  private func checked(_ profile: Field) -> [JSONMember] {
    guard let fields = profile.object() else { return [] }
    for key in JobReader.keys { if let field = fields[key], key == "settings" { refuseSecrets(field) } }
    fields.end()
    return (profile.node.members ?? []).filter { JobReader.keys.contains($0.key) && !$0.value.isNull }
  }

  /// Reports secrets, which must come from files and the environment, not from profiles.
  private func refuseSecrets(_ settings: Field) {
    for section in settings.node.members ?? [] {
      for member in section.value.members ?? []
      where SettingsSchema.current.setting(section.key, member.key)?.isSecret ?? false {
        found.add(
          member.place, "'\(settings.name).\(section.key).\(member.key)' is a secret, which profiles cannot contain",
          hint:
            "in each environment, set the secret's variable NAME, or set NAME_FILE to the path of a file with the secret"
        )
      }
    }
  }

  /// Merges objects; any other value replaces the existing one, unless it is null.
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
