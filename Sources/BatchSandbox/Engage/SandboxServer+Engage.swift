package import BatchFoundation

extension SandboxServer {
  /// Starts a server with Engage's endpoints only; throws as ``start(_:_:)`` does.
  package static func start(_ options: EngageSandboxOptions = EngageSandboxOptions()) throws -> SandboxServer {
    try start(options.server, [EngageEndpoints(options)])
  }

  /// Reads or changes Engage's state from the same process; returns nil if the server has no Engage.
  private func withState<Result>(_ body: (inout SandboxState) throws -> Result) rethrows -> Result? {
    try platform(EngageEndpoints.self)?.state.withLock { try body(&$0) }
  }

  /// The number of times that each event was applied, by digest or attribute; empty if events are only counted.
  package var appliedEvents: [String: Int] { withState { $0.events.applied } ?? [:] }

  /// The bodies of applied submissions in order; empty unless they are kept.
  package var appliedBodies: [[UInt8]] { withState { $0.events.bodies } ?? [] }

  /// Returns the recipients of a list, oldest first, each with its id and all non-empty values.
  package func recipients(of list: String) -> [(id: Int64, values: [ByteText: ByteText])] {
    let recipients = withState { state -> [(id: Int64, values: [ByteText: ByteText])] in
      guard let list = state.api.organization.lists[ByteText(list)] else { return [] }
      return list.all.map { recipient in
        var values: [ByteText: ByteText] = [:]
        for (position, column) in list.columns.enumerated() where !recipient.value(position).isEmpty {
          values[column.name] = recipient.value(position)
        }
        return (recipient.id, values)
      }
    }
    return recipients ?? []
  }

  /// Returns the rows of a relational table in order of their first insertion.
  package func rows(of table: String) -> [[ByteText: ByteText]] {
    withState { $0.api.organization.tables[ByteText(table)]?.rows ?? [] } ?? []
  }

  /// Returns the ids of a contact list's members, oldest first.
  package func members(ofContactList id: String) -> [Int64] {
    withState { $0.api.organization.contactLists[ByteText(id)]?.members.sorted() ?? [] } ?? []
  }

  package func members(ofProgram id: String) -> [Int64] {
    withState { $0.api.organization.programs[ByteText(id)]?.sorted() ?? [] } ?? []
  }

  /// Returns the recipients of a list that have opted out, oldest first.
  package func optedOut(of list: String) -> [Int64] {
    withState { $0.api.organization.lists[ByteText(list)]?.all.filter { $0.optedOut != nil }.map(\.id) ?? [] } ?? []
  }

  package func download(_ name: String) -> [UInt8]? {
    withState { $0.api.organization.files.read(.download, name) } ?? nil
  }
}
