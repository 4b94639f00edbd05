import BatchFoundation

/// Which parameter a key of a payload was perhaps meant to be.
struct ParameterSpelling {
  /// Pushes have few keys and repeat them, so what was found of each is kept.
  private var found: [(key: [UInt8], meant: String?)] = []
  private static let mostFound = 32

  /// Nil where the key is a parameter, or not a slip of one's name: it stands for something else.
  ///
  /// - Parameter names: the same in every call.
  mutating func nearest(_ key: Text, among names: @autoclosure () -> [Text]) -> String? {
    if let known = found.first(where: { unsafe key.bytes.elementsEqual($0.key) }) { return known.meant }
    if found.count == Self.mostFound { found.removeAll(keepingCapacity: true) }
    let names = names()
    let meant = names.contains(key) ? nil : Self.nearest(key.description, among: names)
    unsafe found.append((Array(key.bytes), meant))
    return meant
  }

  /// Letter case, `_`, `-` and spaces aside, a slip is the name itself, up to two letters more, less or otherwise, or `campaign` and
  /// `campaignName` for the name of the campaign, which comes first among the names.
  private static func nearest(_ key: String, among names: [Text]) -> String? {
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
