import BatchFoundation
import Glibc

/// What the beginning of a file says it is, where that is text but no lines of JSON: read as such it would be a bad line each.
///
/// Only what cannot be an export with some bad lines is recognized.
enum TextForm: Equatable {
  case array, documents, utf16
  case table(separator: UInt8)

  /// Bytes that are looked at.
  static let headBytes = 1 << 16

  /// - Parameters:
  ///   - head: without a byte order mark of UTF-8.
  ///   - isWhole: whether that is all of the file.
  init?(_ head: UnsafeBufferPointer<UInt8>, isWhole: Bool) {
    if head.count >= 2, unsafe head[0] == 0xFF && head[1] == 0xFE || head[0] == 0xFE && head[1] == 0xFF {
      self = .utf16
      return
    }
    // Nearly every export begins like this.
    if head.count >= 2, unsafe head[0] == UInt8(ascii: "{"), unsafe !head[1].isLineSpace { return nil }
    var lines: [ArraySlice<UInt8>] = []
    let bytes = unsafe Array(head.prefix(Self.headBytes))
    for line in bytes.split(separator: 0x0A) {
      let trimmed = line.drop { $0.isLineSpace }.dropLast(while: { $0.isLineSpace })
      if !trimmed.isEmpty { lines.append(trimmed) }
      if lines.count == 3 { break }
    }
    guard let first = lines.first, let start = first.first else { return nil }
    let isWholeLine = lines.count > 1 || isWhole
    switch start {
    case UInt8(ascii: "["):
      // A line that is an array by itself is one bad line among others, unless it is all there is.
      let beginsRecord = (first.dropFirst() + (lines.count > 1 ? lines[1] : [])).first { !$0.isLineSpace }
      guard beginsRecord == UInt8(ascii: "{") else { return nil }
      let isClosed = isWholeLine && first.last == UInt8(ascii: "]")
      guard !isClosed || lines.count == 1 else { return nil }
      self = .array
    case UInt8(ascii: "{"):
      guard first.count == 1, lines.count > 1, lines[1].first == UInt8(ascii: "\"") else { return nil }
      self = .documents
    default:
      guard lines.count > 1 else { return nil }
      for separator in [UInt8(ascii: ","), UInt8(ascii: "\t"), UInt8(ascii: ";")] {
        let names = first.split(separator: separator, omittingEmptySubsequences: false)
        guard names.count >= 3, names.allSatisfy(Self.isName) else { continue }
        // A quoted field may hold separators.
        let fields = lines[1].split(separator: separator, omittingEmptySubsequences: false).count
        guard fields == names.count || fields > names.count && lines[1].contains(UInt8(ascii: "\"")) else { continue }
        self = .table(separator: separator)
        return
      }
      return nil
    }
  }

  private static func isName(_ field: ArraySlice<UInt8>) -> Bool {
    let name = field.first == UInt8(ascii: "\"") ? field.dropFirst().dropLast() : field
    return !name.isEmpty && name.count <= 80
      && name.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || "_-. $[]/".utf8.contains(byte)
      }
  }

  /// What it is, and what reads it.
  var words: String {
    switch self {
    case .array: Self.words("a JSON array", #""form": "json""#)
    case .documents: Self.words("JSON documents of several lines", #""form": "json""#)
    case .utf16: "text in UTF-16, but lines of JSON are UTF-8; convert it: iconv -f UTF-16 -t UTF-8 FILE"
    case .table(UInt8(ascii: "\t")): Self.words("a table with tabs", #""form": "tsv""#)
    case .table(UInt8(ascii: ";")): Self.words("a table with semicolons", #""form": "csv", "separator": ";""#)
    case .table: Self.words("a table in CSV", #""form": "csv""#)
    }
  }

  private static func words(_ what: String, _ form: String) -> String {
    "\(what), but the entry reads lines of JSON; name a map that says \(form): {\"path\": \"FILE\", \"map\": \"MAP.json\"}"
  }
}

extension ArraySlice<UInt8> {
  fileprivate func dropLast(while isDropped: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    var end = endIndex
    while end > startIndex, isDropped(self[end - 1]) { end -= 1 }
    return self[startIndex..<end]
  }
}
