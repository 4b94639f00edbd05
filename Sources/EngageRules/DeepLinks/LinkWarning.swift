package import BatchFoundation

/// A problem that did not stop a link from being read, but that its author should know (reference deep-links 9).
package struct LinkWarning: Hashable, Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A `%` that is not an escape; the text was kept as written.
    case badPercent = "bad_percent"
    /// Escapes that are not UTF-8; the text was kept as written.
    case badUTF8 = "bad_utf8"
    /// A piece of the query without `=`; it was dropped.
    case bareName = "bare_name"
    /// A piece of the query that begins with `=`; it was dropped.
    case emptyName = "empty_name"
    /// A name that the query repeats; its last value counts.
    case duplicateName = "duplicate_name"
    /// A query parameter that replaced a placeholder's value.
    case pathQueryCollision = "path_query_collision"
    /// A `+`, which means itself here although browsers write a space as `+`.
    case plusSign = "plus_sign"
    /// A value that contains a `=`, which the SDKs dropped.
    case extraEquals = "extra_equals"
    case noScheme = "no_scheme"
    /// Neither `//` nor `/` after the scheme; no route can match.
    case opaque
    /// A value too long for the expression of a route; no route was chosen.
    case tooLong = "too_long"
    /// A handler of the route that this program does not have; it was skipped.
    case unknownHandler = "unknown_handler"
    /// More than one route matched; the explanation lists the others.
    case ambiguous
    /// A configuration key written in place of a parameter name; it is read as the parameter.
    case campaignAlias = "campaign_alias"
  }

  package var kind: Kind
  /// The parameter, segment, handler or route that the warning is about; empty if it is about the whole link.
  package var subject: Text
}

extension [LinkWarning] {
  /// The most warnings kept for one link.
  static var most: Int { 64 }

  mutating func add(_ kind: LinkWarning.Kind, about subject: Text = .empty) {
    let warning = LinkWarning(kind: kind, subject: subject)
    if count < Self.most, !contains(warning) { append(warning) }
  }

  mutating func add(_ flaw: PercentDecoding.Flaw?, about subject: Text) {
    switch flaw {
    case .badEscape: add(.badPercent, about: subject)
    case .badUTF8: add(.badUTF8, about: subject)
    case nil: break
    }
  }
}
