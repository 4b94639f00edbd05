package import BatchFoundation
import BatchWire
import GameRules

extension GameEndpoint {
  /// Asks deltaDNA Engage one question, without retries (reference deltadna-service 4). `body` is sent and hashed as is.
  func ask(_ body: [UInt8], consent: PIPLConsent, cancellation: HTTPCancellation? = nil) -> DecisionOutcome {
    // A response can contain game parameters and an image message.
    DecisionOutcome(post(body, consent: consent, answerLimit: 16 << 20, cancellation: cancellation))
  }
}

/// The outcome of a question to deltaDNA Engage (reference deltadna-service 4.2).
package enum DecisionOutcome: Sendable {
  /// A 2xx response with a JSON object that has no duplicate key.
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
      // The kind of syntax error does not matter.
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

  /// `answered`, or the raw value of the failure's kind.
  package var word: String {
    switch self {
    case .answered: "answered"
    case .failed(let failure): failure.kind.rawValue
    }
  }
}

/// The reason why a question got no usable answer.
package struct DecisionFailure: Sendable, Hashable {
  /// The raw values appear in listings and in the store.
  package enum Kind: String, Sendable, CaseIterable {
    case malformedRequest, refused, unknownEnvironment, noAnswer, unreadable, notAsked, unavailable
  }

  package var kind: Kind
  /// The status of the response; ``noStatus`` or ``notAskedStatus`` if there is none.
  package var status: Int

  package static let noStatus = -1
  package static let notAskedStatus = 0

  package init(_ kind: Kind, status: Int) {
    self.kind = kind
    self.status = status
  }

  package static let notAsked = DecisionFailure(.notAsked, status: notAskedStatus)

  /// Whether no later question of this run can succeed, because the hash, key or address is wrong.
  package var endsAsking: Bool { kind == .refused || kind == .unknownEnvironment }

  /// Whether an earlier answer may be used instead. False after a 4xx status, which concerns the question itself.
  package var allowsEarlierAnswer: Bool { kind != .notAsked && !(400..<500).contains(status) }
}
