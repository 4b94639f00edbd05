import BatchFoundation

/// Links, and the recipients of the sandbox; the phones had no such settings.
extension SettingsSchema {
  static let deepLinksRows: [Setting] = rows(
    .deepLinks,
    [
      .list(
        "universalLinkDomains", [], of: .domain, \.deepLinks.universalLinkDomains,
        "Hosts whose `https` links are routed like links of the app's own scheme; `*.example.org` stands for all below."
      ),
      .choice(
        "routeOrder", RouteOrderPolicy.literalFirst, \.deepLinks.routeOrder,
        "Which of several matching routes wins: the one with literal parts before placeholders, or the first in the file."
      ),
    ])

  static let sandboxRows: [Setting] = rows(
    .sandbox,
    [
      .optionalText(
        "recipients", .file, \.sandbox.recipients,
        "JSON file of the recipients that the sandbox of `--sandbox` starts with.")
    ])
}
