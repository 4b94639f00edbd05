import Testing

@testable import BatchMaps

/// What names and values of foreign records mean.
@Suite struct MapProposalTests {
  @Test(
    arguments: [
      (["launch", "background"], ["launch": "launch", "background": "background"]),
      (["Application Opened", "Viewed", "open"], ["Application Opened": "launch"]),
      (["session_start", "buy"], ["session_start": "foreground"]),
      (["App Opened", "close"], ["App Opened": "launch", "close": "background"]),
      (["open", "close"], [:]), (["launch", "buy"], [:]), (["start", "pause", "resume"], [:]),
    ] as [([String], [String: String])])
  func namesOfLifecycle(names: [String], types: [String: String]) {
    let found = MapProposal.lifecycle(names)
    #expect(Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.type) }) == types)
  }

  @Test func valuesOfColumns() {
    #expect(["iPhone 15", "iphone15,2", "SM-G991B", "Mobile", "Galaxy S24"].allSatisfy(ColumnLook.isDeviceClass))
    #expect(!["iPhone-A", "phone-0001", "pixel_12ab", "motor"].contains(where: ColumnLook.isDeviceClass))
    #expect(["3.55E+14", "3,5e+9"].allSatisfy(ColumnLook.isRounded) && !ColumnLook.isRounded("35E1"))
    #expect(["+01:00", "-0530", "Z"].allSatisfy(ColumnLook.isOffset) && !ColumnLook.isOffset("60"))
    #expect(["app://a", "/cart", "shop/a?b=1"].allSatisfy(ColumnLook.isLink))
    #expect(!["Cart", "{\"a\":\"/\"}", "01/15/2026", "a / b"].contains(where: ColumnLook.isLink))
  }
}
