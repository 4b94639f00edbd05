import BatchFoundation
import BatchStore
import EngageRules

extension IdentitySession {
  /// Carries out an instruction on the device's recipient then, or on its merge target since (reference identity 5.7).
  func make(_ instruction: ContactInstruction, _ pending: PendingCheck, _ known: KnownDevice, _ turn: CheckTurn) throws
  {
    var device = known
    let recipient = device.identity.recipientId
    func plan(for recipient: String) -> MergePlan {
      draft.asking(instruction, MergeDraft.subject(device, pending), of: recipient)
    }
    func stop(as state: MergeState, _ reason: String) throws {
      turn.decide()
      var stopped = plan(for: state == .held ? recipient : "")
      (stopped.state, stopped.reason, stopped.steps) = (state, reason, [])
      try carryOut(stopped, for: device, fresh: [])
    }
    guard Self.isWritable(instruction.target) else {
      return try stop(as: .dropped, "its id has characters that XML cannot carry")
    }
    while true {
      let since = turn.now
      guard let first = try read(recipient) else { return try stop(as: .held, "the device's recipient is gone") }
      guard try isOwn(first, of: &device) else {
        return device.identity.recipientId.isEmpty ? () : try make(instruction, pending, device, turn)
      }
      let image: RecipientImage
      switch try chainEnd(of: first) {
      case .recipient(let end): image = end
      case .broken(let reason, let chain):
        guard case .entered = try turn.enter([recipient] + chain, since: since) else { continue }
        return try stop(as: .held, reason)
      }
      guard case .entered(let hasWaited) = try turn.enter([recipient, image.id], since: since) else { continue }
      if isForgotten(image.id) { return try stop(as: .held, "the recipient was forgotten") }
      turn.decide()
      switch instruction {
      case .optOut where image.isOptedOut, .optIn where !image.isOptedOut:
        return try reconciler.journal { try store.identities.finish(pending, as: device, run: reconciler.run) }
      default: return try carryOut(plan(for: image.id), for: device, fresh: hasWaited ? [] : [image])
      }
    }
  }
}
