import FoundationEssentials

@testable import BatchIngest

/// A folder of its own for one test, gone when the test is.
final class ScratchFolder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/engage-ingest-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // What cannot be removed is left to the system's temporary folder.
    try? FileManager.default.removeItem(atPath: path)
  }

  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = "\(path)/\(name)"
    let folder = file[..<(file.lastIndex(of: "/") ?? file.endIndex)]
    try FileManager.default.createDirectory(atPath: String(folder), withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: file))
    return file
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
  }

  /// The paths found, relative to the folder.
  func relative(_ files: InputFiles) -> [String] {
    files.files.map { String($0.path.description.dropFirst(path.count + 1)) }
  }
}

/// One gzip member that holds `bytes` as they are, in stored blocks, so that the tests need no compressor.
func gzipMember(_ bytes: [UInt8]) -> [UInt8] {
  var member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
  var rest = bytes[...]
  repeat {
    let block = rest.prefix(65_535)
    rest = rest.dropFirst(block.count)
    let count = UInt16(block.count)
    member.append(rest.isEmpty ? 1 : 0)
    for value in [count, ~count] { member += [UInt8(value & 255), UInt8(value >> 8)] }
    member += block
  } while !rest.isEmpty
  var crc: UInt32 = ~0
  for byte in bytes {
    crc ^= UInt32(byte)
    for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
  }
  for value in [~crc, UInt32(bytes.count)] {
    for shift in [0, 8, 16, 24] { member.append(UInt8(value >> shift & 255)) }
  }
  return member
}
