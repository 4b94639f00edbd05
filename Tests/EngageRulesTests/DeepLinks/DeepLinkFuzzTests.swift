import BatchFoundation
import EngageRules
import Testing

/// Random input from fixed seeds: nothing may crash, and the same input must give the same answer.
@Suite struct DeepLinkFuzzTests {
  @Test(arguments: UInt64(1)...4)
  func readsAnyLink(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let routes = """
      {"defaultRoute":{"handlers":["postSilverpop"]},"routes":{"a/:b":{"routeParameters":{"b":{"regex":"[a-c%]+"}}},
      "a":{},"/:x/:y":{},"/":{},"b/a/:c":{"handlers":["postSilverpop"],"routeParameters":{"a":{"required":"true"}}}}}
      """
    let file = try RouteFile.read(Array(routes.utf8), name: "f")
    let routers = [
      DeepLinkRouter(routes: nil), DeepLinkRouter(routes: file),
      DeepLinkRouter(routes: file, options: LinkOptions(routeOrder: .file, ownDomains: ["a", "*.b"])),
    ]
    let pieces =
      [
        "app://", "http://", "a", "b", "c", "/", "//", "?", "#", "&", "=", "%", "%2F", "%c3", "%A9", ":", "@", "+", "é",
        "[", ".",
      ]
      .map { Array($0.utf8) } + [[0xFF], [0x00]]
    for _ in 0..<3000 {
      let url = (0..<Int.random(in: 0..<24, using: &random)).flatMap { _ in
        pieces.randomElement(using: &random) ?? []
      }
      let arena = Arena(blockSize: 4096)
      let text = url.withUnsafeBufferPointer { arena.copy($0) }
      for router in routers {
        let reading = router.read(text, into: arena)
        let explained = router.explain(text, into: arena)
        #expect(reading.outcome == explained.reading.outcome)
        #expect(reading.warnings == explained.reading.warnings)
        #expect(LinkReading.texts(reading.parameters) == LinkReading.texts(explained.reading.parameters))
        let names = reading.parameters.map(\.name)
        #expect(zip(names, names.dropFirst()).allSatisfy { $0 < $1 })
        #expect(names.allSatisfy { !$0.isEmpty })
        #expect(reading.outcome.trimmed <= LinkAddress(text).segments.count + 1)
      }
    }
  }

  @Test(arguments: UInt64(1)...4)
  func readsAnyRouteFile(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let whole = Array(
      """
      {"logging":"true","defaultRoute":{"handlers":["postSilverpop"]},"routes":{"a/:b":{"routeParameters":
      {"b":{"regex":"[a-c]+","required":"true"}},"handlers":"x"},"/c":{} /* c */}}
      """.utf8)
    let alphabet = Array("{}[]\",:/* \\ab10tnx".utf8) + [0xFF]
    for _ in 0..<3000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 0..<6, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = alphabet.randomElement(using: &random) ?? 0
        case 1: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: place)
        default: bytes.remove(at: place)
        }
      }
      #expect(outcome(bytes) == outcome(bytes))
    }
  }

  @Test(arguments: UInt64(1)...4)
  func readsAnyExpression(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let pieces = [
      "a", "b", ".", "*", "+", "?", "{2}", "{1,3}", "(", ")", "|", "[", "]", "^", "$", "\\d", "\\", "-", "(?i)", "(?:",
      "é", "\\b",
    ]
    for _ in 0..<5000 {
      let pattern = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
        pieces.randomElement(using: &random) ?? ""
      }.joined()
      // Most of the numbers are not expressions; that they are refused without a crash is all there is to see.
      guard let expression = try? LinearRegex(pattern) else { continue }
      for value in ["", "a", "ab", "aab1", "é-a", "\n"] {
        let verdict = Array(value.utf8).withUnsafeBufferPointer { expression.verdict(on: $0) }
        #expect(verdict != .tooLong)
      }
    }
  }

  private func outcome(_ bytes: [UInt8]) -> String {
    do {
      let file = try RouteFile.read(bytes, name: "f")
      return file.routes.map(\.key).joined(separator: " ") + file.notes.map(\.description).joined(separator: "\n")
    } catch {
      return error.description
    }
  }
}
