import Glibc

/// Reads and writes rows of comma-separated values; a field with a comma, a quote or a line break stands in quotes, with quotes in
/// it doubled. A byte order mark before the first row is not part of it; fields are bytes, because what they are encoded in is for
/// the reader of the file to check.
struct SeparatedRows {
  private var field: [UInt8] = []
  private var row: [[UInt8]] = []
  private var isQuoted = false
  private var sawQuote = false
  private var isEmpty = true
  /// Bytes of a byte order mark that were seen at the start; nil once something else was.
  private var mark: Int? = 0

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Whether a field that stands in quotes has begun and not ended.
  var isInsideQuotes: Bool { isQuoted && !sawQuote }

  /// Feeds bytes of any piece of a file; each whole row goes to `body`.
  mutating func read(_ bytes: some Sequence<UInt8>, _ body: ([[UInt8]]) -> Void) {
    for byte in bytes {
      if let seen = mark {
        if seen < Self.byteOrderMark.count, byte == Self.byteOrderMark[seen] {
          mark = seen + 1
          continue
        }
        if seen < Self.byteOrderMark.count { field += Self.byteOrderMark[..<seen] }
        mark = nil
      }
      if isQuoted {
        if sawQuote {
          sawQuote = false
          if byte == UInt8(ascii: "\"") {
            field.append(byte)
            continue
          }
          isQuoted = false
        } else if byte == UInt8(ascii: "\"") {
          sawQuote = true
          continue
        } else {
          field.append(byte)
          continue
        }
      }
      switch byte {
      case UInt8(ascii: "\"") where field.isEmpty:
        isQuoted = true
        isEmpty = false
      case UInt8(ascii: ","): endField()
      case UInt8(ascii: "\n"): endRow(body)
      case UInt8(ascii: "\r"): break
      default:
        field.append(byte)
        isEmpty = false
      }
    }
  }

  /// Ends the last row of a file that has no line end.
  mutating func finish(_ body: ([[UInt8]]) -> Void) { if !isEmpty || !row.isEmpty { endRow(body) } }

  private mutating func endField() {
    row.append(field)
    field.removeAll(keepingCapacity: true)
    isEmpty = false
  }

  private mutating func endRow(_ body: ([[UInt8]]) -> Void) {
    if isEmpty, row.isEmpty { return }
    endField()
    body(row)
    row.removeAll(keepingCapacity: true)
    isQuoted = false
    sawQuote = false
    isEmpty = true
  }

  static func line(_ fields: [String]) -> String {
    fields.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\n"
  }
}

/// The folders `upload` and `download` that the service shares over SFTP, where they are mounted.
package struct TransferFolder: Sendable {
  package struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
    package var path: String
    package var operation: String
    package var code: Int32

    package var description: String { "\(path): error: cannot \(operation) (code \(code))" }
  }

  package var path: String

  package init(path: String) { self.path = path }

  func upload(_ name: String, _ bytes: [UInt8]) throws {
    let file = "\(path)/upload/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(path: file, operation: "create", code: errno) }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure(path: file, operation: "write", code: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads a file piece by piece, whatever its size.
  ///
  /// - Parameter remote: as the service names it, such as `/download/Name - All - Jan 31 2026 11-59-59 PM.CSV`.
  func download(_ remote: String, _ body: (ArraySlice<UInt8>) -> Void) throws {
    guard let name = remote.split(separator: "/").last, !name.hasPrefix(".") else {
      throw Failure(path: remote, operation: "name", code: EINVAL)
    }
    let file = "\(path)/download/\(name)"
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(path: file, operation: "open", code: errno) }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(path: file, operation: "read", code: errno) }
      if count == 0 { return }
      body(buffer[..<count])
    }
  }
}
