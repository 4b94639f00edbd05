import BatchFoundation
import BatchWire

/// Reads binary property lists (`bplist00`), with the same limits as for XML lists. Objects refer to each other by
/// number. Each reference counts toward the limits, so a small file cannot expand to a large document.
struct BinaryPropertyListReader {
  typealias Failure = DocumentReader.Failure

  private let bytes: [UInt8]
  private let widthOfOffset: Int
  private let widthOfReference: Int
  private let count: Int
  private let table: Int
  private let limits = XMLLimits.file
  /// The number of values and keys, counted at each reference.
  private var elements = 0
  private var size = 0
  /// The object numbers of the arrays and dictionaries around the current value.
  private var open: [Int] = []

  private static func fault(_ problem: String) -> Failure { Failure("not a readable binary property list: \(problem)") }

  static func read(_ bytes: [UInt8]) throws(Failure) -> JSONNode {
    guard bytes.starts(with: "bplist00".utf8) else { throw fault("only version 00 is supported") }
    guard bytes.count <= XMLLimits.file.bytes else { throw fault("it has more than \(XMLLimits.file.bytes) bytes") }
    let trailer = bytes.count - 32
    guard trailer >= 9 else { throw fault("the file is truncated") }
    let (offset, reference) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    guard 1...8 ~= offset, 1...8 ~= reference, let count = number(bytes, trailer + 8, 8),
      let top = number(bytes, trailer + 16, 8), let table = number(bytes, trailer + 24, 8), count > 0, top < count,
      table >= 8, table <= trailer, count <= (trailer - table) / offset
    else { throw fault("its trailer is damaged") }
    var reader = BinaryPropertyListReader(
      bytes: bytes, widthOfOffset: offset, widthOfReference: reference, count: count, table: table)
    return try reader.node(top, "the list")
  }

  /// Reads a big-endian number; nil if it does not fit `Int`.
  private static func number(_ bytes: [UInt8], _ start: Int, _ width: Int) -> Int? {
    Int(exactly: bytes[start..<(start + width)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// - Parameter name: the value's name in messages.
  private mutating func node(_ object: Int, _ name: String) throws(Failure) -> JSONNode {
    var at = try begin(object)
    let (kind, low) = (bytes[at] >> 4, Int(bytes[at] & 0x0F))
    at += 1
    switch (kind, low) {
    case (0, 8), (0, 9): return JSONNode(.bool(low == 9))
    case (1, 0...3): return JSONNode(.number(String(try integer(at, 1 << low))))
    case (2, 2), (2, 3): return JSONNode(.number("\(try real(at, 1 << low, name))"))
    case (3, 3): return JSONNode(.date(try date(at, name)))
    case (4, _): throw Failure("\(name) is data, which is not supported")
    case (5, _), (6, _): return JSONNode(.string(try string(at, low, isWide: kind == 6, name)))
    case (8, _): throw Failure("\(name) is a UID, which is not supported")
    case (10, _), (13, _):
      guard !open.contains(object) else { throw Self.fault("\(name) contains itself") }
      // Counted as in XML, where the list itself is the first level.
      guard open.count + 2 < limits.depth else {
        throw Self.fault("\(name) is nested more than \(limits.depth) levels deep")
      }
      open.append(object)
      defer { open.removeLast() }
      return JSONNode(kind == 10 ? .array(try array(at, low, name)) : .object(try members(at, low, name)))
    default: throw Self.fault("\(name) has a type that XML property lists do not support")
    }
  }

  /// Counts a reference to an object and returns the object's offset.
  private mutating func begin(_ object: Int) throws(Failure) -> Int {
    elements += 1
    guard elements < limits.elements else { throw Self.fault("it has more than \(limits.elements) values") }
    guard object < count, let place = Self.number(bytes, table + object * widthOfOffset, widthOfOffset), place >= 8,
      place < table
    else { throw Self.fault("it refers to a missing object") }
    return place
  }

  private func integer(_ start: Int, _ width: Int) throws(Failure) -> Int {
    guard start + width <= table else { throw Self.fault("a number extends past the end of the object data") }
    let bits = bytes[start..<(start + width)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    // Only integers of 8 bytes are signed.
    return Int(Int64(bitPattern: bits))
  }

  private func real(_ start: Int, _ width: Int, _ name: String) throws(Failure) -> Double {
    let bits = try integer(start, width)
    let value =
      width == 4
      ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
      : Double(bitPattern: UInt64(bitPattern: Int64(bits)))
    guard value.isFinite else { throw Failure("\(name) is not a finite number") }
    return value
  }

  /// Converts seconds since 2001 to RFC 3339 as in XML lists; omits a zero fraction.
  private func date(_ start: Int, _ name: String) throws(Failure) -> String {
    let milliseconds = (try real(start, 8, name) * 1000 + 978_307_200_000).rounded()
    guard -62_135_596_800_000..<253_402_300_800_000 ~= milliseconds else {
      throw Failure("\(name) is a date outside the years 1 to 9999")
    }
    let text = Instant(milliseconds: Int64(milliseconds)).rfc3339
    return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text
  }

  /// Returns the number of elements of a value, as given by the low bits of its marker or by an integer after the
  /// marker.
  private func length(_ at: inout Int, _ low: Int, width: Int) throws(Failure) -> Int {
    var length = low
    if low == 15 {
      guard at < table, bytes[at] >> 4 == 1, bytes[at] & 0x0F <= 3 else {
        throw Self.fault("a length is not an integer")
      }
      let bytesOfLength = 1 << Int(bytes[at] & 0x0F)
      length = try integer(at + 1, bytesOfLength)
      at += 1 + bytesOfLength
    }
    guard length >= 0, length <= (table - min(at, table)) / width else {
      throw Self.fault("a value extends past the end of the object data")
    }
    return length
  }

  private mutating func string(_ start: Int, _ low: Int, isWide: Bool, _ name: String) throws(Failure) -> String {
    var at = start
    let length = try length(&at, low, width: isWide ? 2 : 1)
    size += length
    guard size <= limits.bytes else { throw Self.fault("its strings have more than \(limits.bytes) characters") }
    let units = (0..<length).map { index in
      isWide ? UInt16(bytes[at + 2 * index]) << 8 | UInt16(bytes[at + 2 * index + 1]) : UInt16(bytes[at + index])
    }
    guard isWide || units.allSatisfy({ $0 < 0x80 }), let text = String(validating: units, as: UTF16.self),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 || [0x09, 0x0A, 0x0D].contains($0.value) })
    else { throw Failure("\(name) is a string with characters that XML property lists cannot contain") }
    return text
  }

  private func reference(_ place: Int) -> Int { Self.number(bytes, place, widthOfReference) ?? .max }

  private mutating func array(_ start: Int, _ low: Int, _ name: String) throws(Failure) -> [JSONNode] {
    var at = start
    let length = try length(&at, low, width: widthOfReference)
    var nodes: [JSONNode] = []
    for index in 0..<length { nodes.append(try node(reference(at + index * widthOfReference), "\(name)[\(index)]")) }
    return nodes
  }

  private mutating func members(_ start: Int, _ low: Int, _ name: String) throws(Failure) -> [JSONMember] {
    var at = start
    let length = try length(&at, low, width: 2 * widthOfReference)
    var members: [JSONMember] = []
    for index in 0..<length {
      guard case .string(let key) = try node(reference(at + index * widthOfReference), "a key of \(name)").value else {
        throw Self.fault("a key of \(name) is not a string")
      }
      let value = try node(reference(at + (length + index) * widthOfReference), "'\(key.printable)'")
      members.append(JSONMember(key: key, value: value))
    }
    return members
  }
}
