import BatchFoundation
import EngageRules
import TestSupport
import Testing

@testable import BatchIngest

/// An archive counts to its damage (reference formats 1.2): what stands behind is nothing, also where it is whole.
///
/// A reader that went on behind damage was noticed by nothing.
@Suite("Lines behind damage") struct DamagedArchiveTests {
  enum Damage: String, CaseIterable {
    case checksum = "the gzip checksum or length is wrong"
    case corrupt = "the gzip data is corrupt"
    case trailing = "the gzip data is followed by other bytes"
  }

  private static func lines(_ device: String, _ count: Int) -> String {
    (0..<count).map { launch(device, $0) + "\n" }.joined()
  }

  /// Whole lines and a part of one, the damage, and another archive that is whole.
  private static func archive(_ damage: Damage, _ text: String, behind: String) -> [UInt8] {
    let text = Array(text.utf8)
    var bytes = gzipMember(text)
    switch damage {
    case .checksum: bytes[bytes.count - 8] ^= 1
    case .corrupt:
      // The last block is no longer the last, and one of a kind that there is not follows.
      bytes.removeLast(8)
      bytes[bytes.count - (text.count - 1) % 65_535 - 1 - 5] = 0
      bytes.append(7)
    case .trailing: bytes += [0, 0]
    }
    return bytes + gzipMember(Array(behind.utf8))
  }

  // The longer ones end behind the first bytes that are read at once, and behind the first block of lines.
  @Test("They are nothing to a run, to parts and to who looks lines up", arguments: Damage.allCases, [3, 9000])
  func nothing(damage: Damage, count: Int) throws {
    let folder = try ScratchFolder()
    let text = Self.lines("before", count) + #"{"deviceId":"half"#
    let behind = #"","timestamp":1,"type":"launch"}"# + "\n" + Self.lines("behind", count)
    try folder.write("f.gz", Self.archive(damage, text, behind: behind))

    let run = try harvest([.events: ["f.gz"]], in: folder)
    #expect(run.records.count == count)
    #expect(run.records.allSatisfy { $0.hasPrefix("before ") })
    #expect(run.quarantine == ["f.gz 0 \(text.utf8.count) damaged-file \(damage.rawValue)[0]"])

    let files = try InputFiles.find([.events: ["f.gz"]], in: folder.path)
    let part = Guarded<[UInt8]>([])
    let partitioning = InputPartitioning(
      files, vocabulary: RecordVocabulary.engage, options: .test(temporaryFolder: folder.path), parts: 1, firstFile: 0)
    let (handedOut, _) = try unsafe partitioning.run(
      { _, bytes in part.withLock { unsafe $0 += bytes } }, progress: { _ in })
    #expect(handedOut == [count + 1])
    let words = String(decoding: part.withLock { $0 }, as: UTF8.self)
    #expect(!words.contains("behind") && !words.contains("half"))

    var found: [UInt64] = []
    let numbers = [1, UInt64(count), UInt64(count) + 1, UInt64(count) + 2]
    try files.files[0].forEachLine(of: numbers, longest: 100) { found.append($0.number) }
    #expect(found == [1, UInt64(count)])
  }

  @Test("A long line that damage cut is not told as one that is too long", arguments: Damage.allCases)
  func longLine(damage: Damage) throws {
    let folder = try ScratchFolder()
    let text = Self.lines("before", 2) + String(repeating: "x", count: 200_000)
    try folder.write("f.gz", Self.archive(damage, text, behind: "\n" + Self.lines("behind", 2)))
    let run = try harvest([.events: ["f.gz"]], in: folder) { options in
      options.maxLineBytes = 1000
      options.blockBytes = 5000
    }
    #expect(run.records.count == 2)
    #expect(run.quarantine == ["f.gz 0 \(text.utf8.count) damaged-file \(damage.rawValue)[0]"])
  }
}
