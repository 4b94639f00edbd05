package import BatchFoundation

/// The campaign most recently stored for a device; there is no history (reference events 2.4).
package struct Campaign {
  package var name: Text
  package var expiresAt: Instant
  /// Whether a record or the end of a run was already past the expiry, so that the expiry is counted only once.
  package var expiryWasSeen = false

  /// Returns whether the campaign is active, which it is up to and including the instant of its expiry.
  package func isActive(at instant: Instant) -> Bool { instant <= expiresAt }
}

/// The source in which campaign parameters are looked up: a payload or the parameters of a link.
enum CampaignSource {
  case payload(JSONView)
  case link([Attribute])

  func text(_ key: Text) -> Text? {
    switch self {
    case .payload(let payload): PayloadSearch.text(key, in: payload)
    case .link(let parameters): parameters.last { $0.name == key }?.value
    }
  }
}

/// The campaign that a payload or link sets, and the faults in its parameters.
struct CampaignReading {
  var campaign: Campaign?
  var warnings: [(kind: WarningKind, detail: StaticString)] = []
  /// The source of the expiry, for explanations.
  var expirySource: StaticString = ""

  /// Whether the source names no campaign at all, not even an empty one.
  var namesNone: Bool { campaign == nil && warnings.isEmpty }
}

extension CampaignReading {
  /// Finds the campaign and its expiry. The first readable source of the expiry counts: expires-at, valid-for, their
  /// aliases in the same order (links only), the legacy time stamp, the default life (reference events 2.3, reference
  /// decisions 25).
  init(_ source: CampaignSource, at base: Instant, _ names: ParameterNames, defaultLife: Milliseconds) {
    guard let name = source.text(names.currentCampaign) else { return }
    guard !name.isEmpty else {
      warnings.append((.emptyCampaign, "the campaign name is empty; ignored"))
      return
    }
    var keys = [names.campaignExpiresAt, names.campaignValidFor]
    if case .link = source {
      keys += [names.expiresAtInLinks, names.validForInLinks]
    }
    for key in keys {
      guard let text = source.text(key) else { continue }
      switch ExpirationText.parse(text) {
      case .duration(let span):
        campaign = Campaign(name: name, expiresAt: min(base + span, .last))
        expirySource = "a duration"
      case .absolute(let instant):
        campaign = Campaign(name: name, expiresAt: instant)
        expirySource = "an absolute date"
      case .refused:
        warnings.append((.unreadableExpiration, "an expiration text could not be read; the next source is used"))
        continue
      }
      return
    }
    if let text = source.text(names.campaignEndTimeStamp) {
      if let instant = Self.epochSeconds(text) {
        campaign = Campaign(name: name, expiresAt: instant)
        expirySource = "CampaignEndTimeStamp"
        return
      }
      warnings.append(
        (
          .unreadableExpiration,
          "CampaignEndTimeStamp must be seconds since 1970, 1 to 12 digits, up to the year 9999; the value was ignored"
        ))
    }
    campaign = Campaign(name: name, expiresAt: min(base + defaultLife, .last))
    expirySource = "General.defaultCurrentCampaignExpiration"
  }

  /// Parses seconds since 1970, given as one to twelve digits; nil if invalid or after the year 9999 (reference
  /// decisions 16).
  private static func epochSeconds(_ text: Text) -> Instant? {
    guard 1...12 ~= text.count, let seconds = text.digits(0, text.count) else { return nil }
    let instant = Instant(milliseconds: Int64(seconds) * 1000)
    return instant <= .last ? instant : nil
  }
}

/// Looks for keys in notification payloads (reference events 2.1).
enum PayloadSearch {
  /// Returns the string or number at the shallowest place where the key has one; at equal depth, the first by key path.
  /// An empty string counts, and a number is returned as written (reference decisions 25). Only objects are searched,
  /// not arrays. Returns nil if there is neither.
  static func text(_ key: Text, in payload: JSONView) -> Text? {
    guard payload.kind == .object else { return nil }
    return shallowest(key, in: payload, at: 0, atMost: .max)?.text
  }

  private struct Hit {
    var text: Text
    var depth: Int
  }

  /// - Parameter deepest: The maximum depth at which a hit counts.
  private static func shallowest(_ key: Text, in object: JSONView, at depth: Int, atMost deepest: Int) -> Hit? {
    if let value = object[key], let text = value.string ?? value.number { return Hit(text: text, depth: depth) }
    var best: (hit: Hit, child: Text)?
    for (child, value) in object.members where value.kind == .object {
      // A later hit must be shallower than the best so far, or equally deep under a smaller key.
      let allowed = best.map { child < $0.child ? $0.hit.depth : $0.hit.depth - 1 } ?? deepest
      guard depth < allowed else { continue }
      if let hit = shallowest(key, in: value, at: depth + 1, atMost: allowed) { best = (hit, child) }
    }
    return best?.hit
  }

  /// Returns `aps.alert` or `aps.alert.body` as shown to the user; empty if neither is a string (reference events 1.7).
  static func displayedMessage(in payload: JSONView?) -> Text {
    guard let alert = payload?["aps"]?["alert"] else { return .empty }
    return alert.string ?? alert["body"]?.string ?? .empty
  }
}
