import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchConfiguration

/// Shipped files with random damage: every outcome is a document or a fault with words, never a crash.
@Suite struct DamagedDocumentTests {
  @Test(arguments: [
    "EngageConfig-iOS-1.1.0.plist", "EngageConfig-Android-1.1.0.json", "EngageConfig.plist", "EngageConfig.json",
  ])
  func readsOrRefuses(name: String) throws {
    let original = try Checkout.bytes("configs/\(name)")
    var random = SplitMix64(seed: 0x5EED)
    var refused = 0
    for _ in 0..<300 {
      var bytes = original
      for _ in 0...Int(random.next() % 3) {
        let index = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[Int(random.next() % UInt64(bytes.count))], at: index)
        }
      }
      var layers = SettingLayers()
      do {
        layers.lay(try DocumentReader.read(bytes), .file, source: name, directory: "/")
        let isMute = layers.faults.contains { $0.problem.isEmpty || $0.place.line == nil }
        #expect(!isMute)
      } catch {
        refused += 1
        #expect(!error.problem.isEmpty)
      }
    }
    #expect(refused > 100)
  }
}
