import BatchFoundation
import LoopbackServer
import TestSupport
import Testing

@testable import BatchWire

@Suite("Writing to buckets") struct ObjectWriterTests {
  private static let large: [UInt8] = (0..<20_000_001).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
  private static let part = 8 << 20
  private static let address = "s3://exports/out/a b"

  private func storage(_ server: BucketServer) -> ObjectStorage {
    var settings = StorageSettings()
    settings.endpoint = server.endpoint
    let keys = ["AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "sec/ret-key"]
    return ObjectStorage(
      settings, environment: keys, backoff: Backoff(first: Milliseconds(1), longest: Milliseconds(2)), budget: 100
    ) { .test() }
  }

  /// Writes the bytes in pieces that do not end where parts do.
  private func write(
    _ bytes: [UInt8], to server: BucketServer, if condition: RemoteCondition? = nil,
    check: @escaping () throws -> Void = {}
  ) throws -> String? {
    let writer = try storage(server).writer(of: Self.address, if: condition, check: check)
    for start in stride(from: 0, to: bytes.count, by: 1_000_003) {
      let end = min(start + 1_000_003, bytes.count)
      try unsafe bytes[start..<end].withUnsafeBytes { try unsafe writer.write($0) }
    }
    return try writer.finish()
  }

  private func lines(_ server: BucketServer) -> [String] {
    server.arrivals.map { String($0.requestLine.dropLast(" HTTP/1.1".count)) }
  }

  @Test("A small object is one request; its body is signed")
  func small() throws {
    let server = try BucketServer(["out/a b": .init("old", tag: "o")])
    let tag = try write(Array("abc".utf8), to: server)
    #expect(server.object("out/a b")?.bytes == Array("abc".utf8))
    #expect(tag == server.object("out/a b")?.tag)
    #expect(lines(server) == ["PUT /exports/out/a%20b"])
    #expect(
      server.arrivals.first?.header("x-amz-content-sha256")
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(server.arrivals.first?.header("Content-Type") == "application/octet-stream")
    _ = try write([], to: server)
    #expect(server.object("out/a b")?.bytes == [])
  }

  @Test("A large object comes in parts of one size, and appears with the last request")
  func large() throws {
    let server = try BucketServer([:])
    server.interfere { [unowned server] _ in
      #expect(server.keys.isEmpty)
      return nil
    }
    let tag = try write(Self.large, to: server)
    #expect(server.object("out/a b")?.bytes == Self.large)
    #expect(tag == server.object("out/a b")?.tag)
    #expect(server.uploads == 0)
    let target = "/exports/out/a%20b?"
    #expect(
      lines(server) == [
        "POST \(target)uploads=", "PUT \(target)partNumber=1&uploadId=u%2F1",
        "PUT \(target)partNumber=2&uploadId=u%2F1",
        "PUT \(target)partNumber=3&uploadId=u%2F1", "POST \(target)uploadId=u%2F1",
      ])
    #expect(
      server.arrivals.map { Int($0.header("Content-Length") ?? "") ?? 0 }.dropLast() == [
        0, Self.part, Self.part, 3_222_785,
      ])
    // Exactly one part needs no upload.
    server.interfere { _ in nil }
    _ = try write(Array(Self.large.prefix(Self.part)), to: server)
    #expect(server.arrivals.count == 6)
  }

  @Test("Every request is repeated while the service is busy")
  func busy() throws {
    let server = try BucketServer([:])
    server.interfere { $0.number.isMultiple(of: 2) ? .status(503, code: "SlowDown") : nil }
    _ = try write(Self.large, to: server)
    #expect(server.object("out/a b")?.bytes == Self.large)
    #expect(server.arrivals.count == 10)
  }

  @Test("A refused part, a signal and an abandoned writer abort the upload; nothing appears")
  func aborts() throws {
    let server = try BucketServer(["out/a b": .init("old", tag: "o")])
    server.interfere { $0.value("partNumber") == "2" ? .status(403, code: "AccessDenied") : nil }
    let denied = #expect(throws: StorageError.self) { try write(Self.large, to: server) }
    #expect(
      denied?.description
        == "s3://exports/out/a b: error: writing is denied (403 AccessDenied); allow s3:PutObject and s3:AbortMultipartUpload"
    )
    #expect(lines(server).last == "DELETE /exports/out/a%20b?uploadId=u%2F1")
    server.interfere { _ in nil }
    var checks = 0
    #expect(throws: CancellationError.self) {
      try write(Self.large, to: server) {
        checks += 1
        if checks == 3 { throw CancellationError() }
      }
    }
    #expect(lines(server).last == "DELETE /exports/out/a%20b?uploadId=u%2F2")
    do {
      let writer = try storage(server).writer(of: Self.address, if: nil) {}
      try unsafe Self.large.withUnsafeBytes { try unsafe writer.write($0) }
    }
    #expect(lines(server).last == "DELETE /exports/out/a%20b?uploadId=u%2F3")
    #expect(server.uploads == 0)
    #expect(server.object("out/a b")?.bytes == Array("old".utf8))
  }

  @Test("A condition is sent with the request that writes the object, of any size", arguments: [3, 9_000_000])
  func conditions(size: Int) throws {
    let server = try BucketServer([:])
    let bytes = Array(Self.large.prefix(size))
    let tag = try #require(try write(bytes, to: server, if: .nothing))
    #expect(server.arrivals.last?.header("If-None-Match") == "*")
    #expect(throws: RemoteConflict(address: Self.address)) { try write(bytes, to: server, if: .nothing) }
    let next = try #require(try write(bytes + [1], to: server, if: .object(tag: tag)))
    #expect(next != tag)
    #expect(throws: RemoteConflict(address: Self.address)) { try write(bytes + [2], to: server, if: .object(tag: tag)) }
    #expect(server.object("out/a b")?.bytes == bytes + [1])
    #expect(server.uploads == 0)
  }

  @Test("A lost answer is asked for again; with a condition or an upload the outcome is unknown")
  func lost() throws {
    let server = try BucketServer([:])
    server.interfere { $0.number == 0 ? .lost : nil }
    _ = try write([1], to: server)
    #expect(server.arrivals.count == 2)
    server.put("out/a b", nil)
    server.interfere { $0.number == 2 ? .lost : nil }
    let unknown = #expect(throws: StorageError(Self.address, .lost)) { try write([1], to: server, if: .nothing) }
    #expect(unknown?.exit == .cannotWrite)
    let isFirst = Guarded(true)
    server.interfere { request in
      guard request.method == "POST", request.value("uploadId") != nil else { return nil }
      return isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst ? .lost : nil
      }
    }
    #expect(throws: StorageError(Self.address, .lost)) { try write(Self.large, to: server) }
    #expect(server.object("out/a b")?.bytes == Self.large)
  }

  @Test("An error in an answer with the status 200 is an error")
  func errorsWithin() throws {
    let server = try BucketServer([:])
    server.interfere {
      $0.method == "POST" && $0.value("uploadId") != nil ? .body("<Error><Code>InternalError</Code></Error>") : nil
    }
    #expect(
      throws: StorageError(Self.address, .refused(status: 500, code: "InternalError", region: nil), .write)
    ) { try write(Self.large, to: server) }
    #expect(server.keys.isEmpty)
    #expect(server.uploads == 0)
  }

  @Test(
    "Only one object in a bucket can be written",
    arguments: ["https://example.org/a", "s3://exports", "s3://exports/a/", "s3://exports/*", "s3://a"])
  func refuses(address: String) throws {
    let server = try BucketServer([:])
    let error = #expect(throws: StorageError.self) { try storage(server).writer(of: address, if: nil) {} }
    #expect(error?.exit == .configuration)
    #expect(server.arrivals.isEmpty)
  }
}
