/// What a player has agreed to, as the headers of a request tell it (reference deltadna-service 3.3).
///
/// Only what was given is told: a header that is missing says that nobody had to be asked, or that nobody was.
package struct Consent: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The use of personal data.
  package static let use = Consent(rawValue: 1)
  /// Its export to another country.
  package static let export = Consent(rawValue: 2)
}
