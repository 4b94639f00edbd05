package import BatchFoundation
import BatchWire

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
