import BatchFoundation
import Testing

@testable import BatchWire

/// Damaged documents give a tree or an ``XMLError``, and never take the process down.
@Suite struct XMLMutationTests {
  static let seedDocument = Array(
    """
    <?xml version="1.0" encoding="UTF-8"?><Envelope><Body><RESULT><SUCCESS>TRUE</SUCCESS><a:b xmlns:a="u" k='v&amp;'/>\
    <FAILURES><FAILURE failure_type="permanent" description="Zoë &lt;"><COLUMN name="Audit"><![CDATA[k-]]]]><![CDATA[>]]>\
    </COLUMN></FAILURE></FAILURES><!-- c --></RESULT></Body></Envelope>
    """.utf8)
  static let fragments = [
    "<", ">", "&", ";", "\"", "<!DOCTYPE a [", "]]>", "<![CDATA[", "<!--", "&#0;", "&lt;", "\u{FEFF}", ":", "<?",
  ]
  .map { Array($0.utf8) }

  @Test(arguments: UInt64(1)...60)
  func mutatedDocuments(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<150 {
      var bytes = Self.seedDocument
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: at)
        case 2:
          bytes.insert(contentsOf: Self.fragments[Int.random(in: 0..<Self.fragments.count, using: &random)], at: at)
        case 3: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...40, using: &random)))
        default:
          bytes.insert(
            contentsOf: bytes[at..<min(bytes.count, at + 30)], at: Int.random(in: 0..<bytes.count, using: &random))
        }
        if bytes.isEmpty { break }
      }
      do throws(XMLError) {
        #expect(try XMLDocument.parse(bytes).line > 0)
      } catch {
        #expect(!error.description.isEmpty)
      }
    }
  }
}
