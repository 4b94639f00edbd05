import BatchFoundation
import BatchIngest
import GRDB
import Glibc

/// Cuts what an SDK kept on a phone: the rows of a SQLite database, events with their lengths before them, or one event by itself.
///
/// The formats are those of the public sources (reference formats 6.5). Nothing is written beside the file.
final class StoreCutter: RecordCutter {
  private let path: String
  private let jsonColumns: [String]
  private let options: IngestOptions
  private var bytes: [UInt8] = []
  private var number: UInt64 = 1

  private static let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
  /// SDKs keep some megabytes.
  private static let largest = 1 << 28

  init(of path: FilePath, jsonColumns: [String], _ options: IngestOptions) {
    self.path = path.description
    self.jsonColumns = jsonColumns
    self.options = options
  }

  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String? {
    let form = unsafe TextForm.binary(head)
    return form == .sqlite ? nil : form?.words
  }

  func take(_ piece: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void) {
    // Logs and their indexes belong to the database beside them.
    guard !path.hasSuffix("-wal"), !path.hasSuffix("-shm"), bytes.count <= Self.largest else { return }
    unsafe bytes += piece
  }

  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void) {
    guard !isDamaged, !bytes.isEmpty else { return }
    if bytes.count > Self.largest { return refuse(.lineTooLong, "a store of more than 256 MB", body) }
    if bytes.starts(with: "SQLite format 3\0".utf8) {
      readDatabase(body)
    } else if let width = LengthField(bytes) {
      readEvents(width, body)
    } else if let first = bytes.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") {
      take(bytes[...], body)
    } else {
      refuse(.otherForm, "neither a SQLite database nor a file of events that an SDK kept", body)
    }
  }

  private func take(_ record: ArraySlice<UInt8>, _ body: (CutRecord) -> Void) {
    Array(record).withCutRecord(
      number, UInt64(record.startIndex), fault: record.count > options.maxLineBytes ? .lineTooLong : nil, body)
    number += 1
  }

  private func refuse(_ reason: QuarantineReason, _ detail: String, _ body: (CutRecord) -> Void) {
    [UInt8]().withCutRecord(0, 0, fault: reason, detail: detail, body)
  }

  private func readEvents(_ field: LengthField, _ body: (CutRecord) -> Void) {
    var at = 0
    while at < bytes.count {
      guard let length = field.value(bytes, at: at), length > 0, length <= bytes.count - at - field.width else {
        let kept = Int(number - 1).counted("event")
        return refuse(.damagedFile, "the file ends within an event, at byte \(at); \(kept) before it were read", body)
      }
      take(bytes[(at + field.width)..<(at + field.width + length)], body)
      at += field.width + length
    }
  }

  /// Reads a copy: a database with a log cannot be opened without writing beside it.
  private func readDatabase(_ body: (CutRecord) -> Void) {
    do {
      try DatabaseCopy.open(bytes, logBeside: path, in: options.temporaryFolder).inDatabase { database in
        let check = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "ok"
        var found = false
        for table in try String.fetchAll(database, sql: Self.tables) {
          let columns = try database.columns(in: table).map(\.name)
          guard jsonColumns.contains(where: columns.contains) else { continue }
          found = true
          let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier) ORDER BY rowid")
          while let row = try rows.next() { take(object(row)[...], body) }
        }
        if check != "ok" {
          refuse(.damagedFile, "the database is damaged: \(check)", body)
        } else if !found {
          let names = jsonColumns.joined(separator: " or ")
          refuse(.otherForm, "a SQLite database without a table that has a column \(names)", body)
        }
      }
    } catch let error as DatabaseError {
      refuse(.damagedFile, "the database is damaged: \(error.message ?? error.resultCode.description)", body)
    } catch {
      refuse(.damagedFile, "the database cannot be copied to be read: \(error)", body)
    }
  }

  private func object(_ row: Row) -> [UInt8] {
    var text = ByteBuffer(capacity: 1 << 10)
    var json = EmbeddedJSON()
    for (name, value) in row {
      let before = text.count
      text.append(before == 0 ? "{" : ",")
      Array(name.utf8).withText { CanonicalJSON.appendString($0, to: &text) }
      text.append(":")
      switch value.storage {
      case .int64(let integer): Array(String(integer).utf8).withText { text.append($0) }
      case .double(let double) where double.isFinite: Array(double.description.utf8).withText { text.append($0) }
      case .string(let string):
        let bytes = Array(string.utf8)
        if jsonColumns.contains(name), json.append(bytes, to: &text) { continue }
        bytes.withText { CanonicalJSON.appendString($0, to: &text) }
      default: text.truncate(to: before)
      }
    }
    if text.count == 0 { text.append("{") }
    text.append("}")
    return text.array
  }
}

/// How the lengths before events are written: by the SDK of iOS in 8 bytes, by that of Unity in 4, by the old one of Android in 4 with the
/// highest first.
private struct LengthField {
  let width: Int
  private let isBigEndian: Bool

  private init(width: Int, isBigEndian: Bool) {
    self.width = width
    self.isBigEndian = isBigEndian
  }

  /// Nil where no event begins behind any of them.
  init?(_ bytes: [UInt8]) {
    let known = [
      LengthField(width: 8, isBigEndian: false), LengthField(width: 4, isBigEndian: false),
      LengthField(width: 4, isBigEndian: true),
    ]
    let field = known.first { field in
      guard bytes.count > field.width, bytes[field.width] == UInt8(ascii: "{") else { return false }
      return field.value(bytes, at: 0).map { 0..<(1 << 24) ~= $0 } ?? false
    }
    guard let field else { return nil }
    self = field
  }

  /// Nil where the file ends before.
  func value(_ bytes: [UInt8], at place: Int) -> Int? {
    guard bytes.count - place >= width else { return nil }
    let field = bytes[place..<(place + width)]
    let value = (isBigEndian ? Array(field) : field.reversed()).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: value)
  }
}

/// A copy of a database with its log, which is nobody's but this process's: it has no name any more once it is open.
private enum DatabaseCopy {
  static func open(_ bytes: [UInt8], logBeside original: String, in temporary: String) throws -> DatabaseQueue {
    var template = Array("\(temporary)/engage-store-XXXXXX".utf8CString)
    guard
      unsafe template.withUnsafeMutableBufferPointer({ unsafe $0.baseAddress.flatMap { unsafe mkdtemp($0) } }) != nil
    else { throw SystemError(errno) }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let path = folder + "/store"
    defer {
      for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink(path + suffix) }
      unsafe rmdir(folder)
    }
    try write(bytes, to: path)
    do {
      try write(RegularFile.read(original + "-wal"), to: path + "-wal")
    } catch RegularFile.Failure.system(SystemError(ENOENT)) {
      // Nothing of it stands in a log.
    }
    let queue = try DatabaseQueue(path: path)
    // Opens the log as well.
    try queue.inDatabase { try $0.execute(sql: "PRAGMA query_only = 1; SELECT count(*) FROM sqlite_schema") }
    return queue
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let draft = try DraftFile(for: path)
    try draft.write(bytes)
    try draft.replace()
  }
}
