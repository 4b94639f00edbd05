import Foundation
import TestSupport
import Testing

@testable import BatchWire

/// What fuzzing started from or found: every input still ends as a tree or an ``XMLError``.
@Suite struct XMLCorpusTests {
  static let folder = Checkout.url("Tests/Corpus")
  static let expected: [String: XMLError?] = [
    "xml/markup.xml": nil, "xml/entities.xml": .documentType(line: 1), "answer/select-ok.xml": nil,
    "answer/truncated.xml": .malformed(line: 1, code: 77),
  ]

  @Test(arguments: ["xml", "answer"])
  func everyInputEndsTyped(_ target: String) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.appending(path: target).path)
    #expect(!names.isEmpty)
    for name in names.sorted() {
      let bytes = try Array(Data(contentsOf: Self.folder.appending(path: "\(target)/\(name)")))
      var fault: XMLError?
      do throws(XMLError) { _ = try XMLDocument.parse(bytes) } catch { fault = error }
      if let wanted = Self.expected["\(target)/\(name)"] { #expect(fault == wanted, "\(target)/\(name)") }
    }
  }
}
