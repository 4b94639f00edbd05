import BatchFoundation
import EngageRules

@testable import BatchIngest
@testable import BatchMaps

extension FuzzTarget {
  /// Those of all presets that read text.
  private static let presets = Preset.all.filter { $0.name != "sdk-store" }.compactMap {
    try? MapLibrary(environment: [:], currentDirectory: "/").load($0.name).map
  }

  /// Any bytes as an export for each preset: no record is lost, and a line reads like the values that stand beside it.
  static func maps(_ input: UnsafeBufferPointer<UInt8>) {
    let options = IngestOptions(maxLineBytes: 4096, memoryLimit: 1 << 20, workers: 1)
    for map in presets {
      let mapper = map.makeMapper()
      var outcomes = MappedOutcomes()
      func take(_ record: UnsafeBufferPointer<UInt8>) {
        let count = outcomes.count
        mapper.map(record, into: &outcomes)
        precondition(outcomes.count > count)
      }
      if let cutter = map.makeCutter(of: FilePath(""), options) {
        let cut: (CutRecord) -> Void = { if $0.fault == nil { take($0.bytes) } }
        cutter.take(input, cut)
        repeat { cutter.finish(isDamaged: false, cut) } while !cutter.isDone
      } else {
        for line in input.split(separator: 0x0A) { take(UnsafeBufferPointer(rebasing: line)) }
      }
      check(outcomes)
    }
  }

  private static func check(_ outcomes: borrowing MappedOutcomes) {
    var plain = LineReader(RecordVocabulary.engage)
    var quick = LineReader(RecordVocabulary.engage)
    for case .line(let line, let rule) in outcomes.outcomes {
      var heads = (RecordHead(), RecordHead())
      let bytes = outcomes.lines.bytes(of: line)
      let own = BlockLine(
        bytes: bytes, file: 0, kind: .events, number: 1, offset: 0, raw: bytes, values: outcomes.lines.values(of: line),
        rule: rule)
      let position = RecordPosition(file: 0, line: 1)
      let expected = plain.read(bytes, kind: .events, position: position, into: &heads.0)
      let found = quick.read(own, position: position, into: &heads.1)
      precondition(found?.reason == expected?.reason && found?.field == expected?.field)
      precondition(expected != nil || heads.0.device == heads.1.device && heads.0.timestamp == heads.1.timestamp)
    }
  }
}
