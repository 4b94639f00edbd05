package import BatchFoundation

/// A link split at the delimiters of RFC 3986, with its bytes as recorded (reference deep-links 2). Foundation's `URL`
/// is unsuitable: it rewrites or rejects things that old links contain, such as a lone `%` or a space.
/// This type rejects nothing and decodes nothing; user info, port and fragment are dropped.
package struct LinkAddress {
  /// The text before the first `:` if it has the syntax of a scheme; otherwise nil.
  package var scheme: Text?
  /// The host as written; nil if missing or empty.
  package var host: Text?
  /// The nonempty segments of the path, as written.
  package var segments: [Text]
  /// Whether the path is not empty; slashes alone count.
  package var hasPath: Bool
  /// The text between the first `?` and the fragment; nil if there is no `?`.
  package var query: Text?
  /// Whether there is a path, but neither an authority nor a `/` at its beginning, as in `app:data/5`.
  package var isOpaque: Bool

  package init(_ url: Text) {
    var rest = url
    if let hash = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest.slice(0, hash) }
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      query = rest.slice(mark + 1, rest.count)
      rest = rest.slice(0, mark)
    }
    if let colon = Self.schemeEnd(rest) {
      scheme = rest.slice(0, colon)
      rest = rest.slice(colon + 1, rest.count)
    }
    var hasAuthority = false
    if rest.count >= 2, rest[0] == slash, rest[1] == slash {
      hasAuthority = true
      let end = rest.firstIndex(of: slash, from: 2) ?? rest.count
      host = Self.host(of: rest.slice(2, end))
      rest = rest.slice(end, rest.count)
    }
    hasPath = !rest.isEmpty
    isOpaque = !hasAuthority && hasPath && rest[0] != slash
    segments = rest.split(on: slash)
  }

  /// Returns the link with parts removed from the end: segments first, then the host (reference deep-links 4).
  package func text(withoutLast trimmed: Int) -> String {
    var text = scheme.map { "\($0)://" } ?? "//"
    if let host, trimmed <= segments.count { text += host.description }
    for segment in segments.dropLast(trimmed) { text += "/\(segment)" }
    if let query { text += "?\(query)" }
    return text
  }

  private static func schemeEnd(_ text: Text) -> Int? {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon > 0, text[0].isASCIILetter else { return nil }
    let others = unsafe text.slice(1, colon).bytes
    return unsafe others.allSatisfy { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) } ? colon : nil
  }

  /// Returns the host of an authority: the text between the last `@` and a port; nil if empty.
  private static func host(of authority: Text) -> Text? {
    var host = authority
    if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host.slice(at + 1, host.count) }
    if let colon = host.lastIndex(of: UInt8(ascii: ":")),
      unsafe host.slice(colon + 1, host.count).bytes.allSatisfy(\.isASCIIDigit)
    {
      host = host.slice(0, colon)
    }
    return host.isEmpty ? nil : host
  }
}

private let slash = UInt8(ascii: "/")

extension Text {
  func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
    for index in start..<count where self[index] == byte { return index }
    return nil
  }

  func lastIndex(of byte: UInt8) -> Int? {
    for index in stride(from: count - 1, through: 0, by: -1) where self[index] == byte { return index }
    return nil
  }

  /// Returns the nonempty pieces between the separators.
  func split(on separator: UInt8) -> [Text] {
    var pieces: [Text] = []
    var start = 0
    for index in 0...count where index == count || self[index] == separator {
      if index > start { pieces.append(slice(start, index)) }
      start = index + 1
    }
    return pieces
  }
}

/// A link as seen by routes: its host, decoded segments and query.
struct RoutableLink {
  /// The text compared with the host of a route: the link's host or, for a link to an own domain, the first segment.
  let host: Text?
  /// The decoded, nonempty segments of the path.
  let segments: [Text]
  let query: LinkQuery
  /// Whether the link goes to one of the app's own web domains.
  let hostIsOwnDomain: Bool
  /// Whether routes can match; false for opaque links and links without a scheme, which always take the default route.
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

  /// The number of segments, plus one for a host that is not an own domain. The parts of an unmatched link are removed
  /// one by one.
  var partCount: Int { segments.count + (address.host != nil && !hostIsOwnDomain ? 1 : 0) }

  /// Returns the segments to compare with a route at a level; nil if the route has a host but the link has none left.
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
