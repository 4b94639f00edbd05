package import BatchFoundation
package import BatchWire
package import EngageRules

/// The marketing database as identity needs it, one call each.
///
/// A call is made once; whoever calls decides whether to call again. Conformers are the service itself and the service with an
/// exported copy of the list for look-ups.
package protocol RecipientDatabase: Sendable {
  /// The oldest recipient that has all the values; nil if there is none.
  func find(_ ids: [IdentityColumn]) throws(RemoteFailure) -> RecipientImage?
  /// Whom a look-up names, whatever of the values its record shows; nil for nobody.
  func holder(of ids: [IdentityColumn]) throws(RemoteFailure) -> String?
  /// The recipient of an id as it is now; nil if there is none.
  func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage?
  /// The id of a new recipient; where the service can tell, of the oldest one that has the values already.
  ///
  /// - Throws: also ``RemoteFailure/wrongAnswer`` for an answer that names nobody.
  func add(_ columns: [IdentityColumn]) throws(RemoteFailure) -> String
  func update(_ recipient: String, _ columns: [IdentityColumn]) throws(RemoteFailure)
  /// Inserts the row or replaces the one with its key, which is the first column.
  func writeRow(_ row: [IdentityColumn], table: String) throws(RemoteFailure)
  func deleteRow(key: IdentityColumn, table: String) throws(RemoteFailure)
  /// Does what a record asks for the recipient.
  ///
  /// - Parameter user: the recipient's mobile user id, by which the service opts out.
  /// - Throws: ``RemoteFailure/exists`` for a recipient that is in the contact list already, ``RemoteFailure/lost(_:)`` where a program
  ///   may have been started.
  func make(_ instruction: ContactInstruction, for recipient: String, user: IdentityColumn) throws(RemoteFailure)
  /// Columns and keys of a database or relational table.
  func layout(of list: String) throws(RemoteFailure) -> ListLayout
  /// Uses no connection again that is open now, because one of them gave a wrong answer.
  func reconnect()
}

extension RecipientDatabase {
  package func holder(of ids: [IdentityColumn]) throws(RemoteFailure) -> String? { try find(ids)?.id }

  /// A recipient that the service or the store has named. That it is gone contradicts them, and is believed when it is answered on a fresh
  /// connection too: the answer may have been another's.
  func named(_ recipient: String, _ retryPolicy: RetryPolicy) throws(RemoteFailure) -> RecipientImage? {
    let reading = { () throws(RemoteFailure) in
      try retryPolicy.reading { () throws(RemoteFailure) in try read(recipient) }
    }
    if let image = try reading() { return image }
    reconnect()
    return try reading()
  }
}

/// A recipient as the service answered it.
package struct RecipientImage: Sendable, Equatable {
  package var id: String
  package var isOptedOut = false
  private var values: [ByteText: String]

  package init(id: String, columns: [IdentityColumn]) {
    self.id = id
    values = Dictionary(
      columns.map { (Self.key($0.name), $0.isBlank ? "" : $0.value) }, uniquingKeysWith: { $0.isEmpty ? $1 : $0 })
  }

  /// `Email` is the service's other name of EMAIL, and it answers with both (reference identity 2.3).
  static func key(_ column: String) -> ByteText { ByteText(column.isIdentical(to: "Email") ? "EMAIL" : column) }

  func matches(_ ids: [IdentityColumn]) -> Bool { ids.allSatisfy { self[$0.name].isIdentical(to: $0.value) } }

  func changed(by columns: [IdentityColumn]) -> RecipientImage {
    var image = self
    for column in columns { image.values[Self.key(column.name)] = column.value }
    return image
  }

  package var hasColumns: Bool { !values.isEmpty }

  /// Whether the answer has the column, with or without a value.
  func has(_ column: String) -> Bool { values[Self.key(column)] != nil }

  /// The id of a merge mark, also as a number column may show it; what is none as it is, empty for none.
  package func mark(in column: String) -> String {
    let text = RecipientQuestion.trimmed(self[column])
    guard let number = ColumnKind.decimal(text), number.hasSuffix(".") else {
      return String(decoding: text, as: UTF8.self)
    }
    return String(number.dropLast())
  }

  /// Empty for a column that has no value, nothing but blanks, or was not answered.
  package subscript(column: String) -> String { values[Self.key(column)] ?? "" }
}

/// What GetListMetaData says of a list.
package struct ListLayout: Sendable, Equatable {
  package var columns: Set<ByteText>
  package var keyColumns: Set<ByteText>
  /// Of columns by their names, where one is known.
  package var kinds: [ByteText: ColumnKind]

  package init(columns: Set<ByteText>, keyColumns: Set<ByteText>, kinds: [ByteText: ColumnKind] = [:]) {
    self.columns = columns
    self.keyColumns = keyColumns
    self.kinds = kinds
  }

  package func kind(of column: String) -> ColumnKind { kinds[RecipientImage.key(column)] ?? .text }
}

/// Why a call gave no result.
package enum RemoteFailure: RunError, Equatable, Sendable {
  /// Not applied, or nobody knows: no answer, an unreadable one, 5xx, a transient fault. May be tried again after a read.
  case uncertain(String)
  /// Nobody knows, and another try might do it twice.
  case lost(String)
  /// As ``uncertain(_:)``, because the service takes no call for now. It is worth waiting for; nil when that was done long enough.
  case unavailable(String, again: Milliseconds?)
  /// Refused for now again and again, while other calls of its kind were answered: whom it is about waits for the next run (reference
  /// decisions 60).
  case deferred(String)
  /// The recipient, or the row to delete, is not there. With the words of the service; empty for none.
  case absent(String)
  /// A recipient with this key exists already. With the words of the service.
  case exists(String)
  /// Refused for good, with the number of the fault, 0 for none, and the reason.
  case refused(fault: Int, String)
  /// The answer is about another recipient than the question, also when it was asked once more on a fresh connection.
  case wrongAnswer
  /// No later call of this run can do better: credentials, the protocol or the address were refused.
  case stopped(ServiceStop, String)
  /// The run was told to end.
  case interrupted

  /// Whether the service refused what this device's records say; it stays as it is, and all others go on.
  var concernsOneDevice: Bool {
    switch self {
    case .refused, .absent, .exists, .wrongAnswer: true
    case .uncertain, .unavailable, .deferred, .lost, .stopped, .interrupted: false
    }
  }

  /// Whether another call, of this or any other step, makes no sense.
  var endsRun: Bool {
    switch self {
    case .unavailable(_, let pause): pause == nil
    case .stopped, .interrupted: true
    case .uncertain, .deferred, .lost, .absent, .exists, .refused, .wrongAnswer: false
    }
  }
}

extension RemoteFailure {
  /// How a run ends whose identities could not be finished (reference command-line 4).
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
    case .exists(let words): "\(words); another recipient has the unique key, and no look-up finds it"
    case .refused(_, let text): text
    case .wrongAnswer: "the service answered for another recipient than it was asked about, twice"
    case .stopped(_, let what): what
    case .interrupted: "interrupted"
    }
  }
}
