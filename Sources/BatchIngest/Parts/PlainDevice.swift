package import BatchFoundation
import CBytes
import Glibc

extension SourceLine {
  /// The device of a record, found in the bytes of its line without reading them; of a line that is not a record, anything.
  ///
  /// Where the name of the field stands once, and no backslash can spell another, a record has it there. Nil where the line has to be
  /// read, as that of an event from a phone's own store has to be, whose device stands elsewhere (reference formats 3.6, deltadna 2).
  package var plainDevice: Text? {
    guard let value = text.only(RecordField.deviceId) else { return nil }
    if kind == .events, text.has(RecordField.attributes) || text.has(RecordField.eventParams) { return nil }
    if kind == .deepLinks, text[0] != UInt8(ascii: "{") { return nil }
    return value
  }
}

extension Text {
  /// The text that the only member of this name has; nil for none, several, another value, or where a backslash stands.
  fileprivate func only(_ field: RecordField) -> Text? {
    let name = field.quotedName
    guard unsafe memchr(base, 0x5C, count) == nil, let place = self.place(of: name, from: 0),
      self.place(of: name, from: place + name.count) == nil
    else { return nil }
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

  fileprivate func has(_ field: RecordField) -> Bool { place(of: field.quotedName, from: 0) != nil }

  private func place(of name: Text, from start: Int) -> Int? {
    let found = unsafe engage_find(base + start, count - start, name.base, name.count)
    return found < count - start ? start + found : nil
  }
}

extension RecordField {
  /// As it stands in a line.
  fileprivate var quotedName: Text { Self.quotedNames[Int(rawValue)] }

  private static let quotedNames = allCases.map { Text(permanent: "\"\($0.name)\"") }
}
