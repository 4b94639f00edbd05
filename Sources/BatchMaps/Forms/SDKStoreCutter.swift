import BatchFoundation
import BatchIngest
import GRDB

/// Splits an SDK's store into records: rows of a SQLite database, events each preceded by its length, or one event.
///
/// The formats are taken from the SDKs' public sources (reference formats 6.5). No files are created next to the store.
final class SDKStoreCutter: RecordCutter {
  private let path: String
  private let jsonColumns: [String]
  private let options: IngestOptions
  /// The contents of a file that is not a database; initially, the start of any file.
  private var bytes: [UInt8] = []
  /// The number of bytes received.
  private var count = 0
  private var copy: DatabaseCopy?
  private var rows: SDKStoreRows?
  /// The error that prevented the database from being copied.
  private var failure: SystemError?
  private var number: UInt64 = 1

  private static let magic = Array("SQLite format 3\0".utf8)
  /// An SDK's store has a few megabytes at most.
  private static let largest = 1 << 28

  init(of path: FilePath, jsonColumns: [String], _ options: IngestOptions) {
    (self.path, self.jsonColumns, self.options) = (path.description, jsonColumns, options)
  }

  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String? {
    let form = unsafe TextForm.binary(head)
    return form == .sqlite ? nil : form?.words
  }

  func take(_ piece: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void) {
    // Write-ahead logs and their indexes are read together with the database next to them.
    guard !path.hasSuffix("-wal"), !path.hasSuffix("-shm") else { return }
    count += piece.count
    guard count <= Self.largest, failure == nil else { return }
    do throws(SystemError) {
      if let copy { return try unsafe copy.write(UnsafeRawBufferPointer(piece)) }
      unsafe bytes += piece
      // A database is copied to disk instead of being kept in memory.
      guard bytes.starts(with: Self.magic) else { return }
      let copy = try DatabaseCopy(in: options.temporaryFolder)
      self.copy = copy
      try copy.write(bytes)
      bytes = []
    } catch {
      failure = error
    }
  }

  var isDone: Bool { rows == nil }

  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void) {
    guard !isDamaged, count > 0 else { return }
    if count > Self.largest { return refuse(.lineTooLong, "a store of more than 256 MiB", body) }
    if let failure { return refuse(.damagedFile, "the database cannot be copied for reading: \(failure)", body) }
    if let copy {
      readDatabase(copy, body)
    } else if let width = LengthField.of(bytes) {
      readEvents(width, body)
    } else if let first = bytes.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") {
      take(bytes[...], body)
    } else {
      refuse(.otherForm, "neither a SQLite database nor an SDK's event file", body)
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
        let kept = Int(number - 1).counted("event before it was read", "events before it were read")
        return refuse(
          .damagedFile,
          "the file is damaged or ends early in the event at byte \(at); \(kept)", body)
      }
      take(bytes[(at + field.width)..<(at + field.width + length)], body)
      at += field.width + length
    }
  }

  /// Reads a portion of the rows, so that signals are handled between calls and memory stays bounded. The rows are read
  /// from a copy, because opening a database with a write-ahead log creates files next to it.
  private func readDatabase(_ copy: DatabaseCopy, _ body: (CutRecord) -> Void) {
    do {
      let rows =
        try self.rows
        ?? SDKStoreRows(
          copy.open(logBeside: path, longest: max(options.maxLineBytes, 1 << 20)), jsonColumns,
          longest: options.maxLineBytes)
      self.rows = rows
      let isDone = try rows.read { row in
        if let row { return take(row[...], body) }
        [UInt8]().withCutRecord(
          number, 0, fault: .lineTooLong, detail: "a value of the row has more than \(options.maxLineBytes) bytes", body
        )
        number += 1
      }
      guard isDone else { return }
      if let damage = rows.damage { refuse(.damagedFile, "the database is damaged: \(damage)", body) }
    } catch let error as SDKStoreRows.Refusal {
      refuse(.otherForm, error.words, body)
    } catch let error as DatabaseError {
      refuse(.damagedFile, "the database is damaged: \(error.message ?? error.resultCode.description)", body)
    } catch {
      refuse(.damagedFile, "the database cannot be copied for reading: \(error)", body)
    }
    rows = nil
    self.copy = nil
  }
}

/// The format of the lengths before events: 8 bytes in the iOS SDK, 4 in the Unity SDK, 4 (big-endian) in the old
/// Android SDK.
private struct LengthField {
  let width: Int
  let isBigEndian: Bool

  /// Recognizes the format by the event after the first length; nil if no format fits.
  static func of(_ bytes: [UInt8]) -> LengthField? {
    [(8, false), (4, false), (4, true)].map(LengthField.init).first { field in
      guard bytes.count > field.width, bytes[field.width] == UInt8(ascii: "{") else { return false }
      return field.value(bytes, at: 0).map { 0..<(1 << 24) ~= $0 } ?? false
    }
  }

  /// Returns the length stored at a place; nil if the file ends within it.
  func value(_ bytes: [UInt8], at place: Int) -> Int? {
    guard bytes.count - place >= width else { return nil }
    let field = bytes[place..<(place + width)]
    let value = (isBigEndian ? Array(field) : field.reversed()).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: value)
  }
}
