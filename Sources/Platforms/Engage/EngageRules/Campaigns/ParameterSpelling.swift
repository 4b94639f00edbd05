import BatchFoundation

/// Which parameter a key of a payload was perhaps meant to be.
enum ParameterSpelling {
  /// Nil where the key is not a slip of a parameter's name: it stands for something else.
  ///
  /// Letter case, `_`, `-` and spaces aside, a slip is the name itself, up to two letters more, less or otherwise, or `campaign` and
  /// `campaignName` for the name of the campaign, which comes first among the names.
  static func nearest(_ key: String, among names: [Text]) -> String? {
    let wanted = plain(key)
    if let campaign = names.first, ["campaign", "campaignname"].contains(wanted) { return campaign.description }
    return names.map(\.description).first { NearestName.distance(Array(wanted.utf8), Array(plain($0).utf8)) <= 2 }
  }

  private static func plain(_ name: String) -> String {
    name.filter { !"_- ".contains($0) }.lowercased()
  }
}

extension Text {
  /// A name as warnings show it.
  var inWarning: String { count <= 60 ? description : "\(slice(0, 57).description)..." }
}
