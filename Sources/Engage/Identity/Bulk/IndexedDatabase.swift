import BatchFoundation
import EngageRules

/// The service combined with an exported copy of the data to look up, so that look-ups cost no calls. Recipients to
/// write to are read from the service, and each read or write updates the copy.
final class IndexedDatabase: RecipientDatabase {
  /// A column and a value, normalized as the service may compare them.
  struct Pair: Hashable {
    var column: ByteText
    var value: [UInt8]

    init(_ column: ColumnValue) {
      self.column = RecipientImage.key(column.name)
      // A service may ignore the case of non-ASCII letters too.
      let folded = RecipientQuestion.folded(column.value)
      value =
        folded.allSatisfy { $0 < 0x80 }
        ? folded : RecipientQuestion.folded(column.value.uppercased().lowercased())
    }
  }

  private struct State {
    var images: [ByteText: RecipientImage] = [:]
    /// The recipients that have, or had, each searched pair.
    var holders: [Pair: Set<ByteText>]
    /// Recipients that a write made findable; the read after the write provides their other columns.
    var awaited: Set<ByteText> = []

    mutating func keep(_ image: RecipientImage, foundBy columns: [ColumnValue]) {
      let pairs = columns.map(Pair.init).filter { holders[$0] != nil }
      if pairs.isEmpty { return }
      images[ByteText(image.id)] = image
      for pair in pairs { holders[pair]?.insert(ByteText(image.id)) }
    }
  }

  private let service: any RecipientDatabase
  private let state: Guarded<State>

  /// - Parameter searched: The pairs to look up; nothing else is kept.
  init(_ service: any RecipientDatabase, searched: Set<Pair>) {
    self.service = service
    state = Guarded(State(holders: Dictionary(searched.map { ($0, []) }, uniquingKeysWith: { first, _ in first })))
  }

  /// Keeps an exported recipient if a look-up can find it.
  func take(_ id: String, _ columns: [ColumnValue]) {
    state.withLock { $0.keep(RecipientImage(id: id, columns: columns), foundBy: columns) }
  }

  func find(_ ids: [ColumnValue]) throws(RemoteFailure) -> RecipientImage? {
    guard let first = ids.first else { return nil }
    let answer: RecipientImage?? = state.withLock { state in
      guard let holders = state.holders[Pair(first)] else { return nil }
      let candidates = holders.compactMap { state.images[$0] }.filter { image in
        ids.allSatisfy { Pair($0) == Pair(ColumnValue($0.name, image[$0.name])) }
      }
      // If a candidate differs in case or white space, the service is queried, because only it knows whether such
      // differences count.
      guard candidates.allSatisfy({ $0.matches(ids) }) else { return nil }
      return .some(
        candidates.min { (Int64($0.id) ?? .max, ByteText($0.id)) < (Int64($1.id) ?? .max, ByteText($1.id)) })
    }
    guard let answer else { return try service.find(ids) }
    return answer
  }

  func holder(of ids: [ColumnValue]) throws(RemoteFailure) -> String? { try service.holder(of: ids) }

  func read(_ recipient: String) throws(RemoteFailure) -> RecipientImage? {
    let image = try service.read(recipient)
    state.withLock { state in
      let id = ByteText(recipient)
      if state.images[id] != nil || state.awaited.contains(id) { state.images[id] = image }
    }
    return image
  }

  func add(_ columns: [ColumnValue]) throws(RemoteFailure) -> String {
    let id = try service.add(columns)
    state.withLock { state in
      // The service may have updated an existing recipient, for which the export has more columns.
      let known = state.images[ByteText(id)]?.changed(by: columns) ?? RecipientImage(id: id, columns: columns)
      state.keep(known, foundBy: columns)
    }
    return id
  }

  func update(_ recipient: String, _ columns: [ColumnValue]) throws(RemoteFailure) {
    let id = ByteText(recipient)
    state.withLock { state in
      for pair in columns.map(Pair.init) where state.holders[pair] != nil {
        state.holders[pair]?.insert(id)
        if state.images[id] == nil { state.awaited.insert(id) }
      }
    }
    try service.update(recipient, columns)
    state.withLock { $0.images[id] = $0.images[id]?.changed(by: columns) }
  }

  func writeRow(_ row: [ColumnValue], table: String) throws(RemoteFailure) {
    try service.writeRow(row, table: table)
  }

  func deleteRow(key: ColumnValue, table: String) throws(RemoteFailure) {
    try service.deleteRow(key: key, table: table)
  }

  func make(_ instruction: ContactInstruction, for recipient: String, user: ColumnValue) throws(RemoteFailure) {
    try service.make(instruction, for: recipient, user: user)
  }

  func layout(of list: String) throws(RemoteFailure) -> ListLayout { try service.layout(of: list) }

  func reconnect() { service.reconnect() }
}
