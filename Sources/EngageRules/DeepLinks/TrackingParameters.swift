import BatchFoundation

/// Query parameters that tell where a visitor came from, whatever the app makes of them (reference deep-links 10).
enum TrackingParameters {
  /// The entries whose names are campaign tags, click ids of advertising networks, or ids of a mailing.
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
