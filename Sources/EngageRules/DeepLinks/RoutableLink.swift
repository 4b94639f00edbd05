import BatchFoundation

/// A link as seen by routes: its host, decoded segments and query.
struct RoutableLink {
  /// The text compared with the first part of a route's key: the first segment for a link to an own domain.
  let host: Text?
  /// The decoded segments of the path, without empty ones.
  let segments: [Text]
  let query: LinkQuery
  /// Whether the link goes to one of the app's own web domains.
  let hostIsOwnDomain: Bool
  /// False for links that always take the default route: those without a scheme, and opaque ones.
  let isRoutable: Bool
  let address: LinkAddress

  init(_ address: LinkAddress, ownDomains: [String], into arena: Arena, warnings: inout [LinkWarning]) {
    self.address = address
    if address.scheme == nil { warnings.add(.noScheme) }
    if address.isOpaque, address.scheme != nil { warnings.add(.opaque) }
    isRoutable = address.scheme != nil && !address.isOpaque
    hostIsOwnDomain = Self.isOwn(address, ownDomains)
    var segments: [Text] = []
    segments.reserveCapacity(address.segments.count)
    for segment in address.segments {
      let decoded = PercentDecoding.decode(segment, into: arena)
      warnings.add(decoded.flaw, about: segment)
      segments.append(decoded.text)
    }
    self.segments = segments
    host = hostIsOwnDomain ? segments.first : address.host
    query = LinkQuery(address.query, into: arena, warnings: &warnings)
  }

  /// The number of segments, plus one for a host that counts; an unmatched link loses them one by one.
  var partCount: Int { segments.count + (address.host != nil && !hostIsOwnDomain ? 1 : 0) }

  /// Returns the segments compared with a route at a level; nil if the link has no host, or none is left.
  func segments(for route: Route, level: Int) -> ArraySlice<Text>? {
    let left = segments.dropLast(level)
    if route.host == nil { return left }
    guard host != nil else { return nil }
    guard hostIsOwnDomain else { return left }
    return left.isEmpty ? nil : left.dropFirst()
  }

  private static func isOwn(_ address: LinkAddress, _ domains: [String]) -> Bool {
    guard let host = address.host, let scheme = address.scheme else { return false }
    guard scheme.isEqualIgnoringASCIICase(to: "http".utf8) || scheme.isEqualIgnoringASCIICase(to: "https".utf8) else {
      return false
    }
    return domains.contains { domain in
      guard domain.hasPrefix("*.") else { return host.isEqualIgnoringASCIICase(to: domain.utf8) }
      let suffix = domain.utf8.dropFirst()
      return host.count > suffix.count
        && host.slice(host.count - suffix.count, host.count).isEqualIgnoringASCIICase(to: suffix)
    }
  }
}

extension Text {

  func equals(_ other: [UInt8]) -> Bool { unsafe count == other.count && bytes.elementsEqual(other) }
}

/// Query parameters that show where a visitor came from, whether or not the app uses them (reference deep-links 10).
enum TrackingParameters {
  /// Returns the parameters that are campaign tags, click ids of advertising networks, or ids of a mailing.
  static func among(_ parameters: [Attribute]) -> [Attribute] {
    parameters.filter { parameter in names.contains(parameter.name) }
  }

  /// `spUserID` is left out: it names a person.
  private static let names: Set<Text> = [
    "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "utm_source_platform",
    "utm_creative_format", "utm_marketing_tactic",
    "gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "ttclid", "twclid",
    "spMailingID", "spJobID", "spReportId",
  ]
}
