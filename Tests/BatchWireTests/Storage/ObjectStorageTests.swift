import BatchFoundation
import Glibc
import LoopbackServer
import TestSupport
import Testing

@testable import BatchWire

@Suite("Buckets") struct ObjectStorageTests {
  private static let keys = [
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "sec/ret-key", "AWS_SESSION_TOKEN": "tok/en",
  ]

  private func storage(
    _ server: BucketServer, environment: [String: String] = keys, budget: Int = 100,
    _ change: (inout StorageSettings) -> Void = { _ in }
  ) -> ObjectStorage {
    var settings = StorageSettings()
    settings.endpoint = server.endpoint
    change(&settings)
    return ObjectStorage(
      settings, environment: environment, backoff: Backoff(first: Milliseconds(1), longest: Milliseconds(2)),
      budget: budget
    ) { .test() }
  }

  private func files(_ storage: ObjectStorage, _ address: String) throws -> [RemoteFile] {
    try storage.files(for: try #require(RemoteAddress(address)), address)
  }

  private func read(_ file: RemoteFile) throws -> [UInt8] {
    let reader = file.storage.reader(of: file)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 100_000)
    while true {
      let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe reader.read(into: $0) {} }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  private static let large: [UInt8] = (0..<9_000_001).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }

  @Test("A list has all pages, with decoded keys and without marks of folders")
  func lists() throws {
    let server = try BucketServer([
      "in/a": .init("1", tag: "a"), "in/b c": .init("22", tag: "b"), "in/d": .init("", tag: "d"),
      "in/": .init("", tag: "e"),
      "in/ü": .init("333", tag: "u"), "out": .init("", tag: "o"),
    ])
    let found = try files(storage(server), "s3://exports/in/*")
    #expect(
      found.map(\.address) == ["s3://exports/in/a", "s3://exports/in/b c", "s3://exports/in/d", "s3://exports/in/ü"])
    #expect(found.map(\.size) == [1, 2, 0, 3])
    #expect(found.map(\.tag) == ["\"a\"", "\"b\"", "\"d\"", "\"u\""])
    #expect(server.arrivals.count == 3)
    let first = try #require(server.arrivals.first)
    #expect(first.requestLine == "GET /exports/?encoding-type=url&list-type=2&prefix=in%2F HTTP/1.1")
    #expect(first.header("x-amz-security-token") == "tok/en")
    #expect(first.header("x-amz-content-sha256") == noBody)
    #expect(try found.map(read) == [Array("1".utf8), Array("22".utf8), [], Array("333".utf8)])
  }

  @Test("A large object arrives in ranges, all of them of the object that was found")
  func ranges() throws {
    let server = try BucketServer(["large": .init(Self.large, tag: "x")])
    let found = try files(storage(server), "s3://exports/large")
    #expect(try read(try #require(found.first)) == Self.large)
    let gets = server.arrivals.filter { $0.header("Range") != nil }
    #expect(gets.count == 5)
    #expect(gets.allSatisfy { $0.header("If-Match") == "\"x\"" })
  }

  @Test(
    "The ranges of a large object are larger; six are requested ahead, of which no more is heard when the reader ends")
  func largeRanges() throws {
    let server = try BucketServer(["large": .init([UInt8](repeating: 1, count: 64 << 20 + 1), tag: "x")])
    let store = storage(server, budget: 1)
    let found = try files(store, "s3://exports/large")
    let isOver = Guarded(false)
    server.interfere { _ in
      _ = isOver.wait(upTo: 10_000) { $0 ? true : nil }
      return .status(503, code: "SlowDown")
    }
    var reader: (any RemoteReader)? = found.map { $0.storage.reader(of: $0) }.first
    try reader?.request()
    func ranges() -> [String] { server.arrivals.compactMap { $0.header("Range") } }
    for _ in 0..<1000 where ranges().count < 6 { usleep(10_000) }
    #expect(
      Set(ranges())
        == Set((0..<6).map { "bytes=\($0 << 22)-\(($0 + 1) << 22 - 1)" }))
    reader = nil
    isOver.change { $0 = true }
    usleep(300_000)
    #expect(ranges().count == 6)
    // They leave the budget to others.
    server.interfere { $0.number == 7 ? .status(503, code: "SlowDown") : nil }
    #expect(try files(store, "s3://exports/large").count == 1)
  }

  @Test("After a cut, reading continues at the byte after it")
  func cuts() throws {
    let server = try BucketServer(["large": .init(Self.large, tag: "x")])
    server.interfere { request in
      request.range?.lowerBound.isMultiple(of: 1 << 20) == true ? .cut(after: 700_001) : nil
    }
    let found = try files(storage(server), "s3://exports/large")
    #expect(try read(try #require(found.first)) == Self.large)
    let starts = server.arrivals.compactMap { $0.header("Range") }.filter { $0.hasPrefix("bytes=700001-") }
    #expect(starts == ["bytes=700001-2097151"])
  }

  /// An object with an empty tag counted as read when another of its size replaced it.
  @Test("An empty tag proves nothing, and one without quotes is that of the list")
  func emptyTag() throws {
    let server = try BucketServer(["in/a": .init("abc", tag: "")])
    let file = try #require(try files(storage(server), "s3://exports/in/a").first)
    #expect(file.tag == nil && file.contentSum == nil)
    #expect(try read(file) == Array("abc".utf8))
    var bare = BucketServer.Object("abc", tag: "")
    bare.tag = "a1"
    server.put("in/a", bare)
    let other = try #require(try files(storage(server), "s3://exports/in/a").first)
    #expect(other.tag == "\"a1\"")
  }

  @Test("An object that is replaced between two ranges is named, with and without If-Match")
  func replaced() throws {
    for tag in ["x", "y"] {
      let server = try BucketServer(["large": .init(Self.large, tag: "x")])
      let found = try #require(try files(storage(server), "s3://exports/large").first)
      // The same tag with another size is an object of a server that ignores the condition.
      server.put("large", .init(Self.large.dropLast(), tag: tag))
      #expect(throws: StorageError("s3://exports/large", .changed)) { try read(found) }
    }
  }

  @Test(
    "Refusals are named by what to do, without the service's words",
    arguments: [
      (
        301, "PermanentRedirect", ["x-amz-bucket-region: eu-west-1"],
        "s3://exports/in: error: the bucket is in the region eu-west-1 (301 PermanentRedirect); set Storage.region to 'eu-west-1'",
        RunExit.configuration
      ),
      (
        403, "RequestTimeTooSkewed", [],
        "s3://exports/in: error: the clock of this machine differs from the service's by more than 15 minutes (403 RequestTimeTooSkewed); correct it",
        .credentialsRefused
      ),
      (
        400, "ExpiredToken", [],
        "s3://exports/in: error: the session token has expired (400 ExpiredToken); get new credentials and run the job again",
        .credentialsRefused
      ),
      (
        400, "InvalidToken", [],
        "s3://exports/in: error: the service does not accept the credentials (400 InvalidToken); check the access key, its secret and the session token",
        RunExit.credentialsRefused
      ),
      (
        404, "NoSuchBucket", [], "s3://exports/in: error: there is no such bucket; check the name and Storage.endpoint",
        .noInput
      ),
      (
        403, "SignatureDoesNotMatch", [],
        "s3://exports/in: error: the service does not accept the credentials (403 SignatureDoesNotMatch); check the access key, its secret and the session token",
        .credentialsRefused
      ),
      (
        403, "AccessDenied", [],
        "s3://exports/in: error: reading is denied (403 AccessDenied), or there is no such object; allow s3:GetObject on it; without s3:ListBucket on the bucket, a missing object is also reported as denied",
        .credentialsRefused
      ),
      (
        503, "SlowDown", [],
        "s3://exports/in: error: the service failed at every attempt (503 SlowDown); run the job again later",
        .serviceUnavailable
      ),
    ])
  func refusals(status: Int, code: String, headers: [String], words: String, exit: RunExit) throws {
    let server = try BucketServer([:])
    server.interfere { _ in .status(status, code: code, headers: headers) }
    let error = #expect(throws: StorageError.self) { try files(storage(server), "s3://exports/in") }
    #expect(error?.description == words)
    #expect(error?.exit == exit)
    #expect(
      server.arrivals.count
        == (status == 503
          ? 8 : code == "AccessDenied" ? 2 : code == "SignatureDoesNotMatch" || code == "RequestTimeTooSkewed" ? 2 : 1))
  }

  @Test("An object that may be read is found although its bucket may not be listed; an archived one is named")
  func readsWhatItMayNotList() throws {
    let server = try BucketServer(["in/a": .init("abc", tag: "a"), "in/empty": .init("", tag: "e")])
    server.interfere { $0.isList ? .status(403, code: "AccessDenied") : nil }
    let found = try files(storage(server), "s3://exports/in/a")
    #expect(found.map(\.size) == [3])
    #expect(try read(try #require(found.first)) == Array("abc".utf8))
    #expect(try files(storage(server), "s3://exports/in/empty").map(\.size) == [0])
    #expect(try files(storage(server), "s3://exports/in/none").isEmpty)
    let listing = #expect(throws: StorageError.self) { try files(storage(server), "s3://exports/in/*") }
    #expect(
      listing?.description
        == "s3://exports/in/*: error: listing is denied (403 AccessDenied); allow s3:ListBucket on the bucket, or name single objects without wildcards"
    )
    server.interfere { _ in .status(403, code: "InvalidObjectState") }
    let error = #expect(throws: StorageError.self) { try read(try #require(found.first)) }
    #expect(
      error?.description
        == "s3://exports/in/a: error: the object is archived (403 InvalidObjectState); restore it (aws s3api restore-object) and run the job again"
    )
  }

  @Test("A service that is busy for a while is asked again, until the run's budget is spent")
  func busy() throws {
    let server = try BucketServer(["in/a": .init("abc", tag: "a")])
    server.interfere { $0.number < 5 ? .status(503, code: "SlowDown") : nil }
    #expect(try files(storage(server), "s3://exports/in/").count == 1)
    #expect(server.arrivals.count == 6)
    server.interfere { _ in .status(500, code: "InternalError") }
    #expect(throws: StorageError.self) { try files(storage(server, budget: 2), "s3://exports/in/") }
    #expect(server.arrivals.count == 9)
  }

  @Test("A public bucket needs no credentials; without any, the sources are named")
  func anonymous() throws {
    let server = try BucketServer(["in/a": .init("abc", tag: "a")])
    #expect(try files(storage(server, environment: [:]) { $0.isAnonymous = true }, "s3://exports/in/a").count == 1)
    #expect(server.arrivals.first?.header("Authorization") == nil)
    let error = #expect(throws: StorageError.self) { try files(storage(server, environment: [:]), "s3://exports/in/a") }
    #expect(
      error?.description
        == "s3://exports/in/a: error: no usable credentials: neither the environment nor a file has any. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for a public bucket, set Storage.anonymous"
    )
    #expect(server.arrivals.count == 1)
  }

  @Test("Region, style and payer are those of the settings")
  func followsSettings() throws {
    let server = try BucketServer(["in/a": .init("abc", tag: "a")])
    let paid = storage(server) {
      $0.region = "eu-west-1"
      $0.requesterPays = true
    }
    #expect(try files(paid, "s3://exports/in/a").count == 1)
    let first = try #require(server.arrivals.first)
    #expect(first.header("Authorization")?.contains("/eu-west-1/s3/aws4_request") == true)
    #expect(first.header("x-amz-request-payer") == "requester")
    func place(usesPaths: Bool) throws -> String {
      let storage = storage(server) {
        $0.endpoint = "https://s3.example.org"
        $0.usesPaths = usesPaths
      }
      let (service, path) = try storage.place(
        of: try #require(RemoteAddress("s3://exports/in/a")), "in/a", in: "eu-west-1", "")
      return service.host + path
    }
    #expect(try place(usesPaths: true) == "s3.example.org/exports/in/a")
    #expect(try place(usesPaths: false) == "exports.s3.example.org/in/a")
  }

  @Test("A file of a web server is read without credentials; one without ranges only if it is small")
  func web() throws {
    let server = try BucketServer(["a b.ndjson": .init("abc", tag: "a")])
    let address = "http://127.0.0.1:\(server.port)/exports/a%20b.ndjson"
    let found = try files(storage(server), address)
    #expect(found.map(\.address) == [address])
    #expect(try read(try #require(found.first)) == Array("abc".utf8))
    #expect(
      server.arrivals.allSatisfy { $0.header("Authorization") == nil && $0.header("x-amz-content-sha256") == nil })
    #expect(try files(storage(server), address + "x").isEmpty)
    let plain = try LoopbackServer { connection in
      while connection.readHead() != nil { connection.answer(200, [], "whole") }
    }
    let whole = try files(storage(server), "http://127.0.0.1:\(plain.port)/a")
    #expect(try read(try #require(whole.first)) == Array("whole".utf8))
  }
}
