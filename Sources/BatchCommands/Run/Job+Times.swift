import BatchConfiguration
import BatchFoundation
import FoundationEssentials

extension Job {
  /// Returns the known time of a run and its origin.
  func knownTime(at now: Instant) -> String {
    let known = knownUntil(at: now)
    let reason = known != asOf ?? now ? "the end of the window" : asOf == nil ? "the time of the run" : "asOf"
    return "Known until: \(known.rfc3339) (\(reason), unless an earlier run knew more)"
  }

  /// Returns one line for each profile that is chosen, or for all profiles, with what it changes.
  func profileLines(all: Bool = false) -> [String] {
    profiles.filter { all || $0.name == profile }.map { each in
      let keys = each.keys.isEmpty ? "nothing" : each.keys.joined(separator: ", ")
      return "Profile \(each.name)\(each.name == profile ? "" : " (not chosen)"): changes \(keys)"
    }
  }

  /// The current values of the job's time-dependent parts, one line each; empty if there are none.
  var times: [String] {
    var lines: [String] = []
    if let relativeWindow {
      let (from, to) = (window.from?.rfc3339 ?? "open", window.to?.rfc3339 ?? "open")
      lines.append("Window: \(from) to \(to) (\(relativeWindow.text))")
    }
    let all = inputs.events + inputs.notifications + inputs.deepLinks
    if all.contains(where: { $0.days != nil }) {
      let folder = FileManager.default.currentDirectoryPath
      lines += all.flatMap(\.patterns).map { "Input: \(PathText.shown($0, from: folder))" }
    }
    return lines
  }
}
