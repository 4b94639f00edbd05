/// An address that a job may name instead of a path: `s3://bucket/key`, whose key may contain wildcards, or
/// the `https` URL of one file. `http` is accepted only for this machine.
package struct RemoteAddress: Hashable, Sendable {
  /// `s3`, `https` or `http`.
  package let scheme: String
  /// The bucket, or the host with its port.
  package let host: String
  /// The key without a leading slash, or the path of the URL with one.
  package let key: String

  /// Returns nil for a path, and for an address of another scheme.
  package init?(_ text: String) {
    guard let scheme = ["s3", "https", "http"].first(where: { text.utf8.starts(with: "\($0)://".utf8) }) else {
      return nil
    }
    let rest = text.dropFirst(scheme.utf8.count + 3)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    (self.scheme, host) = (scheme, String(rest[..<slash]))
    key = String(scheme == "s3" ? rest[slash...].dropFirst() : rest[slash...])
  }

  package var isBucket: Bool { scheme == "s3" }

  /// The reason why the address cannot be used; nil if it can. The reason never quotes the address, which may
  /// contain a password.
  package var problem: String? {
    if host.contains("@") || key.lowercased().contains("x-amz-") {
      return "contains credentials, which would appear in reports"
    }
    guard isBucket else {
      if key.utf8.contains(where: { "?#*".utf8.contains($0) }) {
        return "has a query, a fragment or a wildcard, but must be the plain address of one file"
      }
      return nil
    }
    let isName =
      (3...63).contains(host.utf8.count)
      && host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
    return isName ? nil : "must contain a valid bucket name, as in 's3://exports/'"
  }
}

/// An object in a bucket, or a file on a web server, as found.
package struct RemoteFile: Sendable, Equatable {
  /// The whole address, such as `s3://exports/2026-01-15.ndjson`.
  package var address: String
  package var size: UInt64
  /// The strong entity tag, which changes with the content; nil if the server gives none.
  package var tag: String?
  package var storage: any RemoteStorage

  package init(address: String, size: UInt64, tag: String?, storage: any RemoteStorage) {
    (self.address, self.size, self.tag, self.storage) = (address, size, tag, storage)
  }

  package static func == (one: RemoteFile, other: RemoteFile) -> Bool {
    one.address.utf8.elementsEqual(other.address.utf8) && one.size == other.size && one.tag == other.tag
  }

  /// A digest that identifies the content without reading it; nil without a tag.
  package var contentSum: Digest? { tag.map { CopySum.hash("\(address)\n\(size)\n\($0)") } }
}

/// A service that stores files under addresses. Calls block and may come from any number of threads.
package protocol RemoteStorage: Sendable {
  /// Returns the files that a pattern may match, except objects that only mark folders.
  ///
  /// - Parameter pattern: an `s3` address, whose key may contain `*` and `?`, or a URL. Every object whose
  ///   key begins with the text before the first wildcard is returned, so the caller must match the rest.
  /// - Throws: an error that names the address and the remedy.
  func files(for pattern: RemoteAddress, _ text: String) throws -> [RemoteFile]

  /// Returns a reader at the beginning of a file.
  func reader(of file: RemoteFile) -> any RemoteReader

  /// Returns a writer of an object, without sending anything yet. Only when the writer finishes does the
  /// object appear, replacing any other.
  ///
  ///   - condition: the required state of the address when the writer finishes; nil for none.
  ///   - check: called between requests; may throw to stop.
  /// - Throws: an error that names the address and the reason why it cannot be written.
  func writer(
    of address: String, if condition: RemoteCondition?, check: @escaping () throws -> Void
  ) throws -> any RemoteWriter
}

/// The state of an address that a writer requires.
package enum RemoteCondition: Sendable, Equatable {
  case nothing
  case object(tag: String)
}

/// The error for an address that does not meet its ``RemoteCondition``; its object is left unchanged.
package struct RemoteConflict: RunError, Equatable, CustomStringConvertible {
  package var address: String

  package init(address: String) { self.address = address }

  package var exit: RunExit { .storeIsHeld }
  package var description: String {
    "\(address.printable): error: the object is not the last copy that this store wrote or was restored from; it was left unchanged. To continue from it, use 'store restore' with another path for the store"
  }
}

/// Writes one object on one thread. Without ``finish()``, the object does not appear.
package protocol RemoteWriter: AnyObject {
  /// - Throws: an error that names the address and the remedy.
  func write(_ bytes: UnsafeRawBufferPointer) throws

  /// Completes the object, which then appears at its address.
  ///
  /// - Returns: the object's entity tag; nil if the service gives none.
  /// - Throws: the errors of ``write(_:)``, or ``RemoteConflict``.
  func finish() throws -> String?
}

extension RemoteStorage {
  package func write(_ text: String, to address: String, if condition: RemoteCondition? = nil) throws {
    let writer = try writer(of: address, if: condition) {}
    try unsafe Array(text.utf8).withUnsafeBytes { try unsafe writer.write($0) }
    _ = try writer.finish()
  }

  /// Passes the bytes of the object at an address to `take`, in order.
  ///
  /// - Returns: the object; nil if there is none.
  package func read(_ address: String, _ take: (UnsafeRawBufferPointer) throws -> Void) throws -> RemoteFile? {
    guard let place = RemoteAddress(address),
      let file = try files(for: place, address).first(where: { $0.address.utf8.elementsEqual(address.utf8) })
    else { return nil }
    let reader = reader(of: file)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { unsafe buffer.deallocate() }
    while true {
      let count = try unsafe reader.read(into: buffer) {}
      if count == 0 { return file }
      try unsafe take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}

/// Reads one file from its beginning to its end, on one thread.
package protocol RemoteReader: AnyObject {
  /// Requests the first bytes ahead of the first read, which also reports an error of the service.
  ///
  /// - Throws: ``ThreadRefused``; reading then requests the bytes again.
  func request() throws

  /// Reads the next bytes and returns their number; 0 at the end.
  ///
  /// - Parameter idle: called a few times a second while no data arrives; may throw to stop.
  /// - Throws: an error that names the file, for example because it was replaced after it was found.
  func read(into buffer: UnsafeMutableRawBufferPointer, idle: () throws -> Void) throws -> Int
}
