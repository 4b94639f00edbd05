package import BatchFoundation
import CBytes
import Glibc

extension SourceLine {
  /// The device of a record, found in the bytes of its line without reading them; of a line that is not a record, anything.
  ///
  /// Where the name of the field stands once, and no backslash can spell another, a record has it there. Nil where the line has to be
  /// read, as that of an event from a phone's own store has to be, whose device stands elsewhere (reference formats 3.6, deltadna 2).
  package var plainDevice: Text? {
    if kind == .deepLinks, text.isEmpty || text[0] != UInt8(ascii: "{") { return nil }
    return kind == .events
      ? text.only(.deviceId, without: .attributes, .eventParams) : text.only(.deviceId, without: .deviceId, .deviceId)
  }
}

extension Text {
  /// The text that the only member of this name has; nil for none, several, another value, or where a backslash or one of the
  /// other names stands.
  fileprivate func only(_ field: RecordField, without one: RecordField, _ other: RecordField) -> Text? {
    let name = field.quotedName
    let place = unsafe engage_find_only(base, count, name.known, one.quotedName.known, other.quotedName.known)
    guard place < count else { return nil }
    var at = place + name.count
    func skipSpace() { while at < count, self[at].isLineSpace { at += 1 } }
    func take(_ byte: UInt8) -> Bool {
      skipSpace()
      guard at < count, self[at] == byte else { return false }
      at += 1
      return true
    }
    guard take(UInt8(ascii: ":")), take(UInt8(ascii: "\"")),
      let end = unsafe memchr(base + at, 0x22, count - at)
    else { return nil }
    return slice(at, unsafe UnsafeRawPointer(end) - UnsafeRawPointer(base))
  }

  private var known: engage_name { unsafe engage_name(bytes: base, length: count) }
}

extension RecordField {
  /// As it stands in a line.
  fileprivate var quotedName: Text { Self.quotedNames[Int(rawValue)] }

  private static let quotedNames = allCases.map { Text(permanent: "\"\($0.name)\"") }
}
