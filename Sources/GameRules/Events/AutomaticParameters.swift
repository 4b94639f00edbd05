import BatchFoundation

/// Parameters of the automatic events that a device sends with each session, kept while nothing that they tell changes.
struct AutomaticParameters {
  /// Nil until they are made.
  var gameStarted: JSONView?
  var clientDevice: JSONView?
  private var block = DeviceBlock()
  private var pushToken = Text.empty
  private var crossGameUserID = Text.empty

  init() {}

  /// For what will be made of the texts that the state has now.
  init(of state: GameState) {
    block = state.block
    pushToken = state.pushToken
    crossGameUserID = state.crossGameUserID
  }

  /// Whether all texts that the parameters are made of are still those of the state.
  func areOf(_ state: GameState) -> Bool {
    state.block.isSame(as: block) && state.pushToken.isSame(as: pushToken)
      && state.crossGameUserID.isSame(as: crossGameUserID)
  }
}

extension DeviceBlock {
  /// Whether all texts are the same pieces of memory; equal ones elsewhere are not.
  fileprivate func isSame(as other: DeviceBlock) -> Bool {
    let (ours, theirs) = (values.span, other.values.span)
    for slot in ours.indices where !ours[slot].isSame(as: theirs[slot]) { return false }
    return true
  }
}

extension Text {
  fileprivate func isSame(as other: Text) -> Bool { unsafe base == other.base && count == other.count }
}
