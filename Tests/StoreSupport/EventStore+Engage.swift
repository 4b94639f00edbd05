package import BatchStore
import Engage
import EngageRules

/// Tests of the store use events of Engage.
extension EventStore {
  package static func open(_ path: String) throws -> EventStore { try open(path, format: .engage) }

  package static func openReading(_ path: String, checksPages: Bool = true) throws -> EventStore {
    try openReading(path, format: .engage, checksPages: checksPages)
  }

  package static func temporary() throws -> EventStore { try temporary(format: .engage) }
}

extension EventMerge {
  package init(_ sequences: [BlockSequence]) throws { try self.init(sequences, wireForm: WireForm.engage) }

  package static func narrowed(_ sequences: [BlockSequence], width: Int, folder: String) throws -> [BlockSequence] {
    try narrowed(sequences, wireForm: WireForm.engage, width: width, folder: folder)
  }
}
