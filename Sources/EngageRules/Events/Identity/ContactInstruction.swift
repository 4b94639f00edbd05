/// What a record asks to be done with the recipient of its device, beside saying who it is (reference identity 5.7).
package enum ContactInstruction: Sendable, Equatable {
  /// Into the contact list of this id.
  case contactList(String)
  /// Into the program of this id.
  case program(String)
  case optOut
  case optIn

  /// As the store and listings name it; the types of the records.
  package var name: String {
    switch self {
    case .contactList: "contactList"
    case .program: "program"
    case .optOut: "optOut"
    case .optIn: "optIn"
    }
  }

  /// The id of the list or program; empty for the others.
  package var target: String {
    switch self {
    case .contactList(let id), .program(let id): id
    case .optOut, .optIn: ""
    }
  }

  /// Nil for a name that is none of these.
  package init?(name: String, target: String) {
    switch name {
    case "contactList": self = .contactList(target)
    case "program": self = .program(target)
    case "optOut": self = .optOut
    case "optIn": self = .optIn
    default: return nil
    }
  }

  /// What takes it back; nil where the API has no way.
  package var reversed: ContactInstruction? {
    switch self {
    case .contactList, .program: nil
    case .optOut: .optIn
    case .optIn: .optOut
    }
  }
}
