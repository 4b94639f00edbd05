import BatchFoundation
import BatchIngest

/// The `device` objects of the last lines, each with its values, read and packed. Nearly all lines have one of a few.
///
/// Views of the values are valid until ``add(_:)`` is called.
@safe struct KnownDeviceObjects: ~Copyable {
  private struct Entry {
    var object = Text.empty
    var values = DeviceValues()
  }

  private static let size = 256
  /// The number of bytes beyond which all objects are forgotten, because every line of an export may have a different
  /// one.
  private static let mostBytes = 1 << 18
  private let entries: UnsafeMutablePointer<Entry>
  private let memory = Arena(blockSize: 1 << 14)
  private var bytes = 0

  init() {
    unsafe entries = .allocate(capacity: Self.size)
    unsafe entries.initialize(repeating: Entry(), count: Self.size)
  }

  deinit { unsafe entries.deallocate() }

  /// Returns the values of an object that was added; nil if it is not known.
  @inline(__always)
  func values(of object: JSONView) -> UnsafePointer<DeviceValues>? {
    let bytes = Text(of: object)
    let entry = unsafe entries + Self.place(of: bytes)
    return unsafe entry.pointee.object == bytes ? UnsafePointer(entry.pointer(to: \.values)) : nil
  }

  /// Adds an object that has no faults.
  @inline(never)
  mutating func add(_ object: JSONView) {
    if bytes > Self.mostBytes {
      unsafe entries.update(repeating: Entry(), count: Self.size)
      memory.reset()
      bytes = 0
    }
    let copy = unsafe memory.copy(Text(of: object).bytes)
    var none = FieldFaults()
    var values = unsafe DeviceValues(JSONView(at: UnsafeRawPointer(copy.base)), &none)
    values.pack(in: memory)
    bytes += 2 * copy.count
    unsafe entries[Self.place(of: copy)] = Entry(object: copy, values: values)
  }

  @inline(__always)
  private static func place(of object: Text) -> Int { Int(truncatingIfNeeded: ByteMix.oneLane(object)) & (size - 1) }
}

extension Text {
  /// The bytes of a value as on a tape.
  @inline(__always)
  fileprivate init(of value: JSONView) {
    unsafe self.init(base: value.start.assumingMemoryBound(to: UInt8.self), count: value.size)
  }
}
