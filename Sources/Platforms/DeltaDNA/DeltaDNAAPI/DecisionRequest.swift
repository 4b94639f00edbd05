package import BatchFoundation

/// One question to Engage: what a player is to get at a decision point (reference deltadna-service 4.1).
package struct DecisionRequest: Sendable, Hashable {
  package var decisionPoint: ByteText
  package var flavour: ByteText
  /// The parameters of the question, an object as JSON text.
  package var parameters: ByteText
  package var userID: ByteText
  package var sessionID: ByteText?
  package var sdkVersion: ByteText
  package var platform: ByteText
  /// Such as `en_GB`.
  package var locale: ByteText?
  /// `±hh:mm`.
  package var timezoneOffset: ByteText?
  package var manufacturer: ByteText?
  package var operatingSystemVersion: ByteText?

  package init(
    decisionPoint: ByteText, flavour: ByteText, parameters: ByteText = "{}", userID: ByteText,
    sessionID: ByteText? = nil, sdkVersion: ByteText, platform: ByteText, locale: ByteText? = nil,
    timezoneOffset: ByteText? = nil, manufacturer: ByteText? = nil, operatingSystemVersion: ByteText? = nil
  ) {
    self.decisionPoint = decisionPoint
    self.flavour = flavour
    self.parameters = parameters
    self.userID = userID
    self.sessionID = sessionID
    self.sdkVersion = sdkVersion
    self.platform = platform
    self.locale = locale
    self.timezoneOffset = timezoneOffset
    self.manufacturer = manufacturer
    self.operatingSystemVersion = operatingSystemVersion
  }

  /// The API's own version, which the service expects as text.
  package static let version = "4"

  /// The exact body: members in the order of the SDKs, unknown ones left out, no white space.
  package var body: [UInt8] {
    var members: [(String, String?)] = [
      ("decisionPoint", quoted(decisionPoint)), ("flavour", quoted(flavour)), ("parameters", parameters.string),
      ("userID", quoted(userID)), ("sessionID", sessionID.map(quoted)), ("version", JSONString.quoted(Self.version)),
    ]
    members += [
      ("sdkVersion", quoted(sdkVersion)), ("platform", quoted(platform)), ("locale", locale.map(quoted)),
      ("timezoneOffset", timezoneOffset.map(quoted)), ("manufacturer", manufacturer.map(quoted)),
      ("operatingSystemVersion", operatingSystemVersion.map(quoted)),
    ]
    let known = members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
    return Array("{\(known.joined(separator: ","))}".utf8)
  }

  private func quoted(_ text: ByteText) -> String { JSONString.quoted(text.string) }
}

// Parameters and ids are personal data, so no way of printing a request shows them.
extension DecisionRequest: CustomStringConvertible, CustomReflectable {
  package var description: String { "\(decisionPoint.string)@\(flavour.string)" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
