import BatchFoundation
import FoundationEssentials
import Glibc

/// A folder for files on their way, for its user alone; it goes with the last reference.
final class TemporaryFolder: Sendable {
  private let folder: String

  /// - Throws: ``OutputError``.
  init(below parent: String) throws {
    var template = Array("\(parent)/engage-batch-XXXXXX".utf8CString)
    guard
      unsafe template.withUnsafeMutableBufferPointer({ unsafe $0.baseAddress.flatMap { unsafe mkdtemp($0) } }) != nil
    else {
      throw OutputError(path: parent, code: errno)
    }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func path(_ name: String) -> String { "\(folder)/\(name)" }

  /// Names in the order of their numbers.
  func path(_ number: Int) -> String {
    let digits = String(number)
    return path(String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: folder)
    } catch {
      // Left to whoever cleans the temporary folder; nobody else can read it.
    }
  }
}
