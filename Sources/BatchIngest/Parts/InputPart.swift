package import BatchFoundation

/// A part of an export, as a partition wrote it: lines of many files in one, each with its place.
package struct InputPart: Sendable, Equatable {
  /// Consecutive whole lines in a file.
  package struct Slice: Sendable, Equatable {
    package var path: FilePath
    /// The offset of the first byte.
    package var start: UInt64
    package var bytes: UInt64
    /// The ``CopySum`` of its bytes, in hexadecimal.
    package var sum: String

    package init(path: FilePath, start: UInt64, bytes: UInt64, sum: String) {
      self.path = path
      self.start = start
      self.bytes = bytes
      self.sum = sum
    }
  }

  /// The slices, in the order of their lines.
  package var slices: [Slice]
  /// The number of each file of the export in stores.
  package var numbers: [UInt32]

  package init(slices: [Slice], numbers: [UInt32]) {
    self.slices = slices
    self.numbers = numbers
  }

  /// The total size in bytes.
  package var size: UInt64 { slices.reduce(0) { $0 + $1.bytes } }
}

/// A file of a partition or of a result whose bytes differ from those written.
package struct DamagedCopyError: RunError, Equatable, CustomStringConvertible {
  package var path: String

  package init(path: String) { self.path = path }

  package var exit: RunExit { .inputOutput }

  package var description: String {
    "\(path.printable): error: it is not as it was written, by length or check sum; nothing was kept. Copy it again"
  }
}
