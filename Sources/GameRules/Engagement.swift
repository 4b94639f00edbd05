package import BatchFoundation

/// A question to Engage, as a phone would have sent it (reference deltadna 9).
package struct Engagement: Sendable, Hashable {
  /// The reason why no request is sent: the player opted out or denied consent, or the session configuration lacks the
  /// decision point.
  package enum Block: UInt8, Sendable {
    case optedOut, consentDenied, notWhitelisted
  }

  package var timestamp: Instant
  /// The device in the export. Questions at the same instant are sorted by device and emission.
  package var device: ByteText
  /// The emission number; events and questions of a device share one sequence.
  package var emission: Int64
  /// The consent that applied at the time of the question; determines the headers of the request.
  package var consent: PIPLConsent
  package var block: Block?
  package var request: DecisionRequest
}

/// The content of a question to Engage, which asks what a player should get at a decision point (reference
/// deltadna-service 4.1).
package struct DecisionRequest: Sendable, Hashable {
  package var decisionPoint: ByteText
  package var flavour: ByteText
  /// The parameters of the question: an encoded JSON object.
  package var parameters: ByteText = "{}"
  package var userID: ByteText
  package var sessionID: ByteText?
  package var sdkVersion: ByteText
  package var platform: ByteText
  /// For example `en_GB`.
  package var locale: ByteText?
  /// `±hh:mm`.
  package var timezoneOffset: ByteText?
  package var manufacturer: ByteText?
  package var operatingSystemVersion: ByteText?

  /// The exact body of the request: members in the order that the SDKs use, without nil members or white space.
  package var body: [UInt8] {
    var members: [(String, String?)] = [
      ("decisionPoint", quoted(decisionPoint)), ("flavour", quoted(flavour)), ("parameters", parameters.string),
      ("userID", quoted(userID)), ("sessionID", sessionID.map(quoted)),
      // The API version, which the service expects as a string.
      ("version", "\"4\""),
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

// Parameters and ids are personal data, so printing a request never shows them.
extension DecisionRequest: CustomStringConvertible, CustomReflectable {
  package var description: String { "\(decisionPoint.string)@\(flavour.string)" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
