package import BatchFoundation
package import GRDB

/// Whom an erasure is about.
package struct ErasedPeople: Sendable {
  /// As they were named.
  package var ids: [PersonID]
  /// The bytes of the ids of their devices, named or found.
  package var devices: [[UInt8]]

  package init(ids: [PersonID], devices: [[UInt8]]) {
    self.ids = ids
    self.devices = devices
  }
}

/// What a platform's own tables know of people.
package protocol PersonalTables: Sendable {
  /// Devices that the tables have under one of the ids, by the bytes of their ids.
  func devices(of ids: [PersonID], in db: Database) throws -> [[UInt8]]

  /// What has to be finished before these people can be forgotten, in words for an operator; nil for nothing.
  func obstacle(toErasing people: ErasedPeople, in db: Database) throws -> String?

  /// Deletes what is about these people.
  ///
  /// - Returns: how many rows, by what they are in one word.
  func erase(_ people: ErasedPeople, in db: Database) throws -> [String: Int]
}
