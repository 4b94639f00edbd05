package import BatchFoundation
package import BatchWire
package import GameRules

/// Engage: decides what a player gets at a decision point (reference deltadna-service 4).
package struct DecisionService: Sendable {
  package let address: EnvironmentAddress
  private let http: HTTPClient
  private let seconds: Double

  /// An answer carries game parameters and an image message; more than this is not one.
  private static let longestAnswer = 16 << 20

  /// - Parameter timeout: the longest time for one question.
  package init(_ address: EnvironmentAddress, http: HTTPClient, timeout: Milliseconds) {
    self.address = address
    self.http = http
    seconds = Double(timeout.count) / 1000
  }

  /// Asks once.
  ///
  /// - Parameter body: of a question, byte for byte what is sent and what the hash is over.
  package func ask(
    _ body: [UInt8], consent: Consent, cancellation: HTTPCancellation? = nil
  ) -> DecisionOutcome {
    var request = HTTPRequest(
      .post, address.service, address.target(nil, for: body), headers: .collect(consent), body: body,
      totalSeconds: seconds)
    request.answerLimit = Self.longestAnswer
    return DecisionOutcome(http.send(request, cancellation: cancellation))
  }
}
