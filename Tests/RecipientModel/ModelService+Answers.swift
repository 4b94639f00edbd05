import BatchFoundation
import Engage
import EngageRules

extension ModelService {
  /// What an answer says, whatever was asked: one that comes late, to another question, is read as the answer to this one.
  enum Answer {
    case record(RecipientImage?)
    case id(String)
    case done

    func record() throws(RemoteFailure) -> RecipientImage? {
      switch self {
      case .record(let image): image
      // The answer to a change names somebody and has no columns.
      case .id(let id): RecipientImage(id: id, columns: [])
      case .done: throw Self.withoutID
      }
    }

    func id() throws(RemoteFailure) -> String {
      switch self {
      case .record(let image?): return image.id
      case .id(let id): return id
      case .record(nil), .done: throw Self.withoutID
      }
    }

    private static let withoutID = RemoteFailure.uncertain("outcome unknown: status 200, but RecipientId is missing")
  }
}

extension ModelService.State {
  /// What arrives as the answer to a call, on a connection that may have an older one before it.
  ///
  /// What nobody can see in an answer does not happen: instead of "not found" and of an id that was not asked for the connection breaks.
  mutating func deliver(
    _ own: Result<ModelService.Answer, RemoteFailure>, to call: ModelService.Call
  ) -> Result<ModelService.Answer, RemoteFailure> {
    var arrived = own
    if let older = surplus {
      surplus = nil
      if case .record(nil) = older { return .failure(.uncertain("connection lost")) }
      if call.operation == "AddRecipient" { return .failure(.uncertain("connection lost")) }
      if case .success(let answer) = own { surplus = answer }
      arrived = .success(older)
    }
    isWrong = isWrong || shows(arrived, toBeWrongFor: call)
    return arrived
  }

  /// Whether anybody can see that the answer is about somebody else than the call.
  private func shows(
    _ arrived: Result<ModelService.Answer, RemoteFailure>, toBeWrongFor call: ModelService.Call
  ) -> Bool {
    guard let answer = try? arrived.get(), let named = try? answer.record() else { return false }
    switch call.operation {
    case "SelectRecipientData" where call.target.isEmpty:
      return call.columns.contains { !named[$0.key].isEmpty && !RecipientQuestion.isSame(named[$0.key], $0.value) }
    case "SelectRecipientData": return named.id != call.target || !named.hasColumns
    case "UpdateRecipient": return named.id != call.target
    case "AddRecipient": return lies && named.id == namedByAdditions
    default: return false
    }
  }
}
