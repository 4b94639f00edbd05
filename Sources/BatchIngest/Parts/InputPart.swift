package import BatchFoundation

/// A part of an export, as a partition wrote it: lines of many files in one, each with its place.
package struct InputPart: Sendable, Equatable {
  package var path: FilePath
  /// In bytes.
  package var size: UInt64
  /// Of each file of the export, the number by which stores know it.
  package var numbers: [UInt32]

  package init(path: FilePath, size: UInt64, numbers: [UInt32]) {
    self.path = path
    self.size = size
    self.numbers = numbers
  }
}

/// A part that ends in the middle of a line, or holds something that no partition writes.
package struct DamagedPartError: RunError, Equatable, CustomStringConvertible {
  package var path: String

  package var exit: RunExit { .inputOutput }

  package var description: String {
    "\(path.printable): error: the part is damaged; copy it again, or repeat the partition"
  }
}
