import BatchConfiguration
import BatchFoundation
import BatchIngest

/// Splits a file into JSON objects: one document, several in a row, or the elements of arrays.
///
/// Records are numbered within the file (reference formats 6.2). Other text between them becomes a record that is
/// rejected when it is parsed. If a property list is an array, its elements are records; a string among them is a line
/// of text.
final class DocumentCutter: RecordCutter {
  private var decoder: TextDecoder
  private var record: [UInt8] = []
  /// The nesting depth within the current record.
  private var depth = 0
  private var isInText = false
  private var isEscaped = false
  private var isInArray = false
  private var number: UInt64 = 1
  private var offset: UInt64 = 0
  private var start: UInt64 = 0
  private let longest: Int
  private var isFirst = true
  /// Whether the file is a property list, which can only be parsed as a whole.
  private var isPropertyList = false
  private static let longestList = 1 << 26

  init(_ encoding: TextEncoding, longest: Int) {
    decoder = TextDecoder(encoding)
    self.longest = longest
  }

  func otherForm(_ head: UnsafeBufferPointer<UInt8>) -> String? {
    guard decoder.isUTF8, let form = unsafe TextForm.of(head, isWhole: false) else { return nil }
    return form.isDocuments || form == .returns ? nil : form.words(whereMapReads: "JSON")
  }

  func take(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (CutRecord) -> Void) {
    if offset == 0, unsafe TextForm.isPropertyList(bytes) { isPropertyList = true }
    if isPropertyList {
      if record.count <= Self.longestList { unsafe record += bytes }
      offset += UInt64(bytes.count)
      return
    }
    for byte in unsafe decoder.decode(bytes) {
      take(byte, body)
      offset += 1
    }
  }

  func finish(isDamaged: Bool, _ body: (CutRecord) -> Void) {
    guard !isDamaged else { return }
    if isPropertyList { endList(body) } else { end(body) }
  }

  private func endList(_ body: (CutRecord) -> Void) {
    func refuse(_ words: String) { [].withCutRecord(1, 0, fault: .otherForm, detail: words, body) }
    guard record.count <= Self.longestList else {
      return refuse(
        "a property list of more than \(Self.longestList >> 20) MiB; convert it with 'plutil -convert json FILE'")
    }
    do {
      let node = try JSONNode.read(record, source: "")
      for element in node.array ?? [node] {
        record = Array((element.string.map { ["line": .text($0)] } ?? element).compactText.utf8)
        end(body)
      }
    } catch {
      refuse("an unreadable property list: \(error.faults.first?.problem ?? "")")
    }
  }

  private func take(_ byte: UInt8, _ body: (CutRecord) -> Void) {
    if isInText {
      add(byte)
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInText = false
      }
      return
    }
    switch byte {
    case 0x20, 0x09, 0x0A, 0x0D:
      if depth > 0 { add(byte) } else { end(body) }
    case UInt8(ascii: "\""):
      isInText = true
      add(byte)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      if depth == 0 {
        end(body)
        if byte == UInt8(ascii: "["), !isInArray {
          isInArray = true
          return
        }
      }
      depth += 1
      add(byte)
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      if depth == 0, byte == UInt8(ascii: "]"), isInArray {
        end(body)
        isInArray = false
        return
      }
      add(byte)
      depth = max(depth - 1, 0)
      if depth == 0 { end(body) }
    case UInt8(ascii: ",") where depth == 0: end(body)
    default: add(byte)
    }
  }

  private func add(_ byte: UInt8) {
    if record.isEmpty { start = offset }
    if record.count <= longest { record.append(byte) }
  }

  private func end(_ body: (CutRecord) -> Void) {
    if isFirst { record.removeFirst(record.byteOrderMarkLength) }
    guard !record.isEmpty else { return }
    isFirst = false
    record.withCutRecord(number, start, fault: record.count > longest ? .lineTooLong : nil, body)
    record.removeAll(keepingCapacity: true)
    depth = 0
    number += 1
  }
}
