package import BatchFoundation
import CBytes
import Glibc

extension SourceLine {
  /// The device of a record, found in the bytes of its line without parsing; for a line that is not a record, any text.
  ///
  /// If the name of the field occurs once and no backslash can spell another, the record's device is there. Nil if the
  /// line must be parsed, as for an event from a phone's own store, whose device is elsewhere
  /// (reference formats 3.6, deltadna 2).
  package var plainDevice: Text? {
    if kind == .deepLinks, text.isEmpty || text[0] != UInt8(ascii: "{") { return nil }
    return kind == .events
      ? text.only(.deviceId, without: .attributes, .eventParams) : text.only(.deviceId, without: .deviceId, .deviceId)
  }
}

extension Text {
  /// Returns the text of the only member of this name; nil if not exactly one, or with a backslash or another name.
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
  fileprivate var quotedName: Text { Self.quotedNames[Int(rawValue)] }

  private static let quotedNames = allCases.map { Text(permanent: "\"\($0.name)\"") }
}
