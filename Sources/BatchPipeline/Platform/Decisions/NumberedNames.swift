package import BatchFoundation
import BatchStore

/// Names by number, with their bytes: looked up for each event, whereas a `NameTable` receives sums.
@safe package struct NumberedNames: ~Copyable {
  private var table = StringTable(capacity: 64)
  private let memory = Arena(blockSize: 16 << 10)

  package init() {}

  package var count: Int { table.count }

  /// The number of names kept from stretch to stretch: an export can make one for each event.
  package static let limit = 256

  /// Returns the number of the name, and whether this is its first use.
  package mutating func number(of name: Text) -> (number: Int, isNew: Bool) {
    let (number, isNew) = table.intern(name)
    if isNew { unsafe (table.entries + number).pointee.text = memory.copy(name.bytes) }
    return (number, isNew)
  }

  package subscript(number: Int) -> ByteText { unsafe ByteText(table.entries[number].text.description) }

  package mutating func removeAll() {
    table.removeAll()
    memory.reset()
  }
}
