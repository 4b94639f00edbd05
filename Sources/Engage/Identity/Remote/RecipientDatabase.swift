package import BatchFoundation
package import BatchWire
package import EngageRules

/// The marketing database as identity reconciliation needs it, with one method per call. The caller repeats failed
/// calls. All methods throw the reason why a call gave no result; ``RemoteFailure/wrongAnswer`` means that the response
/// is about another recipient.
package protocol RecipientDatabase: Sendable {
  /// Returns the oldest recipient that has all the values; nil if there is none.
  func find(_ ids: [ColumnValue]) throws(RemoteFailure) -> RecipientImage?
  /// Returns the id of the recipient that a look-up finds, without checking its values; nil if there is none.
  func holder(of ids: [ColumnValue]) throws(RemoteFailure) -> String?
  /// Returns the current recipient with the id; nil if there is none.
  func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage?
  /// Adds a recipient, or finds the oldest one that already has the values if the service supports that, and returns
  /// its id.
  ///
  /// - Throws: ``RemoteFailure/wrongAnswer`` also if the response has no valid recipient id.
  func add(_ columns: [ColumnValue]) throws(RemoteFailure) -> String
  /// Changes the named columns of a recipient; an empty value clears a column.
  func update(_ recipient: String, _ columns: [ColumnValue]) throws(RemoteFailure)
  /// Inserts the row or replaces the one with the same key, which is the first column.
  func writeRow(_ row: [ColumnValue], table: String) throws(RemoteFailure)
  /// Deletes the row with the key; throws ``RemoteFailure/absent(_:)`` if there is none.
  func deleteRow(key: ColumnValue, table: String) throws(RemoteFailure)
  /// Carries out a record's instruction on the recipient.
  ///
  /// - Parameter user: The recipient's mobile user id, by which the service opts out.
  /// - Throws: ``RemoteFailure/exists`` for a recipient already in the contact list, ``RemoteFailure/lost(_:)`` if a
  ///   program may have been started.
  func make(_ instruction: ContactInstruction, for recipient: String, user: ColumnValue) throws(RemoteFailure)
  /// Returns the columns and keys of a database or relational table.
  func layout(of list: String) throws(RemoteFailure) -> ListLayout
  /// Stops reusing open connections, because one returned a wrong response.
  func reconnect()
}

extension RecipientDatabase {
  package func holder(of ids: [ColumnValue]) throws(RemoteFailure) -> String? { try find(ids)?.id }

  /// Returns a recipient whose id came from the service or the store; nil if it no longer exists. A
  /// "not found" response may belong to another request, and is accepted only if a fresh connection confirms it.
  func named(_ recipient: String, _ retryPolicy: RetryPolicy) throws(RemoteFailure) -> RecipientImage? {
    let reading = { () throws(RemoteFailure) in
      try retryPolicy.repeating { () throws(RemoteFailure) in try read(recipient) }
    }
    if let image = try reading() { return image }
    reconnect()
    return try reading()
  }
}

/// A recipient as returned by the service.
package struct RecipientImage: Sendable, Equatable {
  package var id: String
  package var isOptedOut = false
  private var values: [ByteText: String]

  package init(id: String, columns: [ColumnValue]) {
    self.id = id
    values = Dictionary(
      columns.map { (Self.key($0.name), $0.isBlank ? "" : $0.value) }, uniquingKeysWith: { $0.isEmpty ? $1 : $0 })
  }

  /// Returns the key of a column; the service returns both `EMAIL` and its alias `Email` (reference identity 2.3).
  static func key(_ column: String) -> ByteText { ByteText(column.isIdentical(to: "Email") ? "EMAIL" : column) }

  func matches(_ ids: [ColumnValue]) -> Bool { ids.allSatisfy { self[$0.name].isIdentical(to: $0.value) } }

  func changed(by columns: [ColumnValue]) -> RecipientImage {
    var image = self
    for column in columns { image.values[Self.key(column.name)] = column.value }
    return image
  }

  package var hasColumns: Bool { !values.isEmpty }

  /// Whether the response has the column, with or without a value.
  func has(_ column: String) -> Bool { values[Self.key(column)] != nil }

  /// Returns the recipient id in a merge mark, even from a number column; any other value is only trimmed. Empty if
  /// there is no mark.
  package func mark(in column: String) -> String {
    let text = RecipientQuestion.trimmed(self[column])
    guard let number = ColumnKind.decimal(text), number.hasSuffix(".") else {
      return String(decoding: text, as: UTF8.self)
    }
    return String(number.dropLast())
  }

  /// The value; empty for a column that has no value or only blanks, or that is missing from the response.
  package subscript(column: String) -> String { values[Self.key(column)] ?? "" }
}

/// The description of a list, as returned by `GetListMetaData`.
package struct ListLayout: Sendable, Equatable {
  package var columns: Set<ByteText>
  package var keyColumns: Set<ByteText>
  /// The kinds of columns by name, where known.
  package var kinds: [ByteText: ColumnKind]

  package init(columns: Set<ByteText>, keyColumns: Set<ByteText>, kinds: [ByteText: ColumnKind] = [:]) {
    self.columns = columns
    self.keyColumns = keyColumns
    self.kinds = kinds
  }

  package func kind(of column: String) -> ColumnKind { kinds[RecipientImage.key(column)] ?? .text }
}

/// The reason why a call gave no result.
package enum RemoteFailure: RunError, Equatable, Sendable {
  /// Not applied, or unknown: no response, an unreadable one, a 5xx or a transient fault. May be repeated after a read.
  case uncertain(String)
  /// Unknown, and repeating the call might apply it twice.
  case lost(String)
  /// Like ``uncertain(_:)``, but the service temporarily accepts no calls. `again` is the pause before the next call;
  /// nil if patience has run out.
  case unavailable(String, again: Milliseconds?)
  /// Refused repeatedly while other calls of its kind are answered: the work that needs it is left to the next run
  /// (reference decisions 60).
  case deferred(String)
  /// The recipient, or the row to delete, does not exist. Has the service's message; empty for none.
  case absent(String)
  /// A recipient with this key already exists. Has the service's message.
  case exists(String)
  /// Refused permanently. Has the error id of the fault (0 for none) and the reason.
  case refused(fault: Int, String)
  /// The response does not match the request: it is about another recipient, or has no valid recipient id.
  case wrongAnswer
  /// No later call in this run can succeed: the credentials, the protocol or the address were refused.
  case stopped(ServiceStop, String)
  /// The run was asked to end.
  case interrupted

  /// Whether the failure concerns only one device's records: that device is left unchanged, and others continue.
  var concernsOneDevice: Bool {
    switch self {
    case .refused, .absent, .exists, .wrongAnswer: true
    case .uncertain, .unavailable, .deferred, .lost, .stopped, .interrupted: false
    }
  }

  /// Whether all further calls in the run are pointless.
  var endsRun: Bool {
    switch self {
    case .unavailable(_, let pause): pause == nil
    case .stopped, .interrupted: true
    case .uncertain, .deferred, .lost, .absent, .exists, .refused, .wrongAnswer: false
    }
  }

  /// The exit code of a run whose identities could not be finished (reference command-line 4).
  package var exit: RunExit {
    switch self {
    case .stopped(let stop, _): stop.exit ?? .serviceUnavailable
    case .refused: .configuration
    case .wrongAnswer: .protocolRefused
    case .uncertain, .unavailable, .deferred, .lost, .absent, .exists, .interrupted: .serviceUnavailable
    }
  }
}

extension RemoteFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .uncertain(let what), .lost(let what), .unavailable(let what, _), .deferred(let what): what
    case .absent(let words): words.isEmpty ? "not found" : words
    case .exists(let words): "\(words); another recipient has the same unique key, and no look-up finds that recipient"
    case .refused(_, let text): text
    case .wrongAnswer: "the service's response does not match the request"
    case .stopped(_, let what): what
    case .interrupted: "interrupted"
    }
  }
}
