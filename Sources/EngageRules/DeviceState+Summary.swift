import BatchFoundation

extension DeviceState {
  /// One line for explanations and listings.
  package var summary: String {
    var parts: [String] = []
    switch session {
    case .none: parts.append("no session")
    case .active(let start, let accumulated):
      parts.append("session active since \(start.rfc3339) after \(accumulated.count) ms")
    case .paused(let pause):
      parts.append("session paused at \(pause.at.rfc3339) after \(pause.accumulated.count) ms")
    }
    if let campaign {
      parts.append("campaign \"\(campaign.name)\" until \(campaign.expiresAt.rfc3339)")
    } else {
      parts.append("no campaign")
    }
    parts.append(isUserIdKnown ? "user id known" : "user id unknown")
    if consent.isDenied { parts.append("consent denied") }
    if !waiting.isEmpty { parts.append("\(waiting.count) waiting") }
    if !held.isEmpty { parts.append("\(held.count) held") }
    parts.append(hasLifecycle ? "lifecycle rules" : "gap mode")
    return parts.joined(separator: "; ")
  }
}

extension EventDraft {
  /// As an explanation shows it.
  var explained: String {
    let named = others.sorted { $0.name < $1.name }.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ", ")
    return "\(code) at \(timestamp.rfc3339) [\(named)]\(expired ? " (EXPIRED)" : "")"
  }
}
