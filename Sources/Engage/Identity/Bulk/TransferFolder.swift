import BatchFoundation
import Glibc

/// The folders `upload` and `download` that the service shares over SFTP, as mounted.
package struct TransferFolder: Sendable {
  package var path: String

  package init(path: String) { self.path = path }

  func upload(_ name: String, _ bytes: [UInt8]) throws {
    let file = "\(path)/upload/\(name)"
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw ExportFault.file(file, operation: "create", code: errno) }
    defer { close(descriptor) }
    do throws(SystemError) {
      try FileDescriptor.write(bytes, to: descriptor)
    } catch {
      throw ExportFault.file(file, operation: "write", code: error.code)
    }
  }

  /// Reads a file piece by piece. The service's path is like `/download/Name - All - Jan 31 2026 11-59-59 PM.CSV`.
  func download(_ remote: String, _ body: (ArraySlice<UInt8>) -> Void) throws {
    guard let name = remote.split(separator: "/").last, !name.hasPrefix(".") else {
      throw ExportFault.file(remote, operation: "name", code: EINVAL)
    }
    let file = "\(path)/download/\(name)"
    let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ExportFault.file(file, operation: "open", code: errno) }
    defer { close(descriptor) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { unsafe buffer.deallocate() }
    do throws(SystemError) {
      while true {
        let count = try unsafe FileDescriptor.read(descriptor, into: buffer)
        if count == 0 { return }
        unsafe body(Array(buffer[..<count])[...])
      }
    } catch {
      throw ExportFault.file(file, operation: "read", code: error.code)
    }
  }
}
