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

/// What an answer of Engage holds for a game (reference deltadna-service 4.2).
package struct DecisionContent: Sendable {
  private let root: JSONNode

  /// - Parameter root: an object.
  package init(_ root: JSONNode) { self.root = root }

  /// The number of the decision as text, whether the service wrote it as a number or as one; nil without.
  package var transactionID: String? {
    switch root["transactionID"]?.value {
    case .number(let text), .string(let text): text
    default: nil
    }
  }

  /// The game parameters; nil without.
  package var parameters: JSONNode? { object("parameters") }

  /// What an event about the decision carries; nil without.
  package var eventParams: JSONNode? { object("eventParams") }

  /// The image message as the service wrote it, whatever it is; nil without.
  package var image: JSONNode? { root.present("image") }

  private func object(_ name: String) -> JSONNode? {
    guard let node = root[name], node.members != nil else { return nil }
    return node
  }
}

/// What is known after a question to Engage (reference deltadna-service 4.2).
package enum DecisionOutcome: Sendable {
  /// A 2xx with a JSON object that has no key twice.
  case answered(status: Int, JSONNode)
  case failed(DecisionFailure)

  init(_ outcome: HTTPOutcome) {
    guard case .answer(let answer) = outcome else {
      self = .failed(DecisionFailure(.noAnswer, status: DecisionFailure.noStatus))
      return
    }
    let status = answer.status
    switch status {
    case 200..<300:
      // Which way it is not an object does not matter to anyone.
      if let root = try? JSONNode.parse(answer.body), root.members != nil {
        self = .answered(status: status, root)
      } else {
        self = .failed(DecisionFailure(.unreadable, status: status))
      }
    case 400: self = .failed(DecisionFailure(.malformedRequest, status: status))
    case 401, 403: self = .failed(DecisionFailure(.refused, status: status))
    case 404: self = .failed(DecisionFailure(.unknownEnvironment, status: status))
    default: self = .failed(DecisionFailure(.unavailable, status: status))
    }
  }
}

extension DecisionOutcome {
  /// `answered`, or the word of the failure.
  package var word: String {
    switch self {
    case .answered: "answered"
    case .failed(let failure): failure.kind.rawValue
    }
  }
}

/// Why a question has no answer of its own.
package struct DecisionFailure: Sendable, Hashable {
  /// The word of each, as listings and the store have it.
  package enum Kind: String, Sendable, CaseIterable {
    case malformedRequest, refused, unknownEnvironment, noAnswer, unreadable, notAsked, unavailable
  }

  package var kind: Kind
  /// As it was answered; ``noStatus`` or ``notAskedStatus`` without an answer.
  package var status: Int

  package static let noStatus = -1
  package static let notAskedStatus = 0

  package init(_ kind: Kind, status: Int) {
    self.kind = kind
    self.status = status
  }

  package static let notAsked = DecisionFailure(.notAsked, status: notAskedStatus)

  /// Whether no later question of this run can do better: hash, key or address are wrong.
  package var endsAsking: Bool { kind == .refused || kind == .unknownEnvironment }

  /// Whether an earlier answer may stand in; a 4xx is the service's word about this very question.
  package var allowsEarlierAnswer: Bool { kind != .notAsked && !(400..<500).contains(status) }
}
