import BatchConfiguration
import BatchFoundation
import TestSupport
import Testing

@testable import BatchIngest
@testable import BatchMaps

/// What a map makes of some records: its lines as they are, `left out: REASON`, `refused: REASON`.
func outcomes(of map: ForeignMap, _ records: [String]) -> [String] {
  let mapper = map.makeMapper()
  return records.flatMap { record in
    var outcomes = MappedOutcomes()
    unsafe Array(record.utf8).withUnsafeBufferPointer { unsafe mapper.map($0, into: &outcomes) }
    return outcomes.outcomes.map { outcome in
      switch outcome {
      case .line(let line, _): unsafe checked(outcomes.lines.bytes(of: line), outcomes.lines.values(of: line))
      case .leftOut(let reason): "left out: \(reason)"
      case .refused(let rejection): "refused: \(rejection.reason.rawValue)"
      }
    }
  }
}

/// A line, beside which its values have to stand as they are read of it; of one that has to be read, reading finds what is wrong.
private func checked(_ line: UnsafeBufferPointer<UInt8>, _ values: JSONView?) -> String {
  var reader = JSONReader()
  var tape = JSONTape()
  let text = unsafe String(decoding: line, as: UTF8.self)
  let rejection = unsafe LineReader.parse(line, &reader, onto: &tape)
  if let values {
    #expect(rejection == nil, "\(text)")
    #expect(
      unsafe tape.bytes.elementsEqual(UnsafeRawBufferPointer(start: values.start, count: values.size)), "\(text)")
  } else {
    #expect(rejection != nil, "\(text)")
  }
  return text
}

func preset(_ name: String) throws -> ForeignMap {
  try MapLibrary(environment: [:], currentDirectory: "/").load(name).map
}

/// Reads a map, whose faults are the second value.
func read(_ text: String) throws -> (map: ForeignMap, faults: [String]) {
  let reader = MapReader(
    try JSONNode.read(Array(text.utf8), source: "map.json"), name: "map.json", source: "map.json",
    zones: ZoneDatabase(environment: [:]))
  return (reader.map, reader.faults.map(\.description))
}

/// The sample of a preset.
func sample(of map: ForeignMap) throws -> [UInt8] {
  let form = if case .table = map.form { "tsv" } else { "ndjson" }
  return Array(try Checkout.text("samples/maps/\(map.name).\(form)").utf8)
}

/// The records in the sample of a preset.
func records(of map: ForeignMap) throws -> [String] {
  let sample = try sample(of: map)
  let options = IngestOptions(maxLineBytes: 1 << 20, memoryLimit: 1 << 26, workers: 1)
  guard let cutter = map.makeCutter(of: FilePath(""), options) else {
    return sample.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
  var records: [String] = []
  let take: (CutRecord) -> Void = { records.append(unsafe String(decoding: $0.bytes, as: UTF8.self)) }
  unsafe sample.withUnsafeBufferPointer { unsafe cutter.take($0, take) }
  repeat { cutter.finish(isDamaged: false, take) } while !cutter.isDone
  return records
}
