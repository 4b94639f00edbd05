import GameRules
import TestSupport
import Testing

/// docs/warnings.md has what the rules warn of.
@Suite struct WarningPageTests {
  @Test(arguments: [GameWarning.Kind.incompleteReceipt, .lateRecord, .ignored(.location)])
  func `every kind of warning is described`(kind: GameWarning.Kind) throws {
    let page = try Checkout.text("docs/warnings.md")
    #expect(page.contains("`\(kind.name)`"))
  }
}
