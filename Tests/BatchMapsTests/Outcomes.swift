import BatchConfiguration
import BatchFoundation

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
      case .line(let range, _): unsafe String(decoding: outcomes.bytes.bytes[range], as: UTF8.self)
      case .leftOut(let reason): "left out: \(reason)"
      case .refused(let rejection): "refused: \(rejection.reason.rawValue)"
      }
    }
  }
}

func preset(_ name: Preset) throws -> ForeignMap {
  try MapLibrary(environment: [:], currentDirectory: "/").load(name.rawValue).map
}

/// Reads a map, whose faults are the second value.
func read(_ text: String) throws -> (map: ForeignMap, faults: [String]) {
  let reader = MapReader(
    try DocumentNode.read(Array(text.utf8), source: "map.json"), name: "map.json", source: "map.json",
    zones: ZoneDatabase(environment: [:]))
  return (reader.map, reader.faults.map(\.description))
}
