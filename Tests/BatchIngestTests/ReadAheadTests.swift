import BatchFoundation
import TestSupport
import Testing

@testable import BatchIngest

/// Objects that are requested before a worker opens them.
@Suite("Reading ahead") struct ReadAheadTests {
  /// Has objects of lines, and notes what becomes of their readers: `request`, `read` and `end`.
  private final class Storage: RemoteStorage {
    let calls = Guarded<[String]>([])
    let refused: Set<String>

    init(refused: Set<String> = []) { self.refused = refused }

    func files(for pattern: RemoteAddress, _ text: String) -> [RemoteFile] { [] }

    func reader(of file: RemoteFile) -> any RemoteReader { Reader(file, self) }

    func writer(
      of address: String, if condition: RemoteCondition?, check: @escaping () throws -> Void
    ) throws -> any RemoteWriter { throw Refusal(name: address) }

    /// The names of the objects for which this was called.
    func names(_ call: String) -> [String] {
      calls.withLock { $0.filter { $0.hasPrefix(call) } }.map { String($0.dropFirst(call.count + 1)) }
    }
  }

  private struct Refusal: Error, Equatable { var name: String }

  private final class Reader: RemoteReader {
    private let name: String
    private let storage: Storage
    private var left: UInt64

    init(_ file: RemoteFile, _ storage: Storage) {
      (name, left, self.storage) = (String(file.address.dropFirst("s3://b/".count)), file.size, storage)
    }

    deinit { note("end") }

    private func note(_ call: String) { storage.calls.withLock { $0.append("\(call) \(name)") } }

    func request() { note("request") }

    func read(into buffer: UnsafeMutableRawBufferPointer, idle: () throws -> Void) throws -> Int {
      if storage.refused.contains(name) { throw Refusal(name: name) }
      let count = min(buffer.count, Int(left))
      note("read")
      for place in 0..<count { unsafe buffer[place] = 0x0A }
      left -= UInt64(count)
      return count
    }
  }

  private func source(_ storage: Storage, sizes: [UInt64], known: KnownFiles? = nil) -> LineSource {
    var files = InputFiles.none
    files.files = sizes.enumerated().map { number, size in
      InputFile(
        RemoteFile(address: "s3://b/\(number)", size: size, tag: "\"\(number)\"", storage: storage), .events)
    }
    var options = IngestOptions.test(temporaryFolder: "/")
    options.knownFiles = known
    return LineSource(files, options, inOrder: false) {}
  }

  @Test("Eight objects are requested ahead of the one that is read, each once and in order")
  func ahead() throws {
    let storage = Storage()
    let source = source(storage, sizes: Array(repeating: 100, count: 20))
    let block = LineBlock(capacity: 1 << 12)
    for number in 0..<20 {
      _ = try #require(try source.next(block))
      #expect(block.file == UInt32(number))
      #expect(storage.names("request") == (1..<20).prefix(number + 8).map { "\($0)" })
      #expect(storage.names("end").count <= number + 1)
    }
    #expect(try source.next(block) == nil)
    #expect(Set(storage.names("end")).count == 20)
  }

  @Test("They have at most 8 MiB; a larger one is requested when it is opened")
  func bytes() throws {
    let storage = Storage()
    let mega: UInt64 = 1 << 20
    let source = source(storage, sizes: [1, 3 * mega, 5 * mega, 1, 9 * mega, 1])
    let block = LineBlock(capacity: 1 << 20)
    _ = try source.next(block)
    #expect(storage.names("request") == ["1", "2"])
    while block.file < 2 { _ = try source.next(block) }
    #expect(storage.names("request") == ["1", "2", "3"])
    while block.file < 4 { _ = try source.next(block) }
    #expect(storage.names("request") == ["1", "2", "3", "5"])
  }

  @Test("An object that an earlier run read is not requested")
  func known() throws {
    let storage = Storage()
    let remote = RemoteFile(address: "s3://b/1", size: 100, tag: "\"1\"", storage: storage)
    let options = IngestOptions.test(temporaryFolder: "/")
    let file = KnownFile(
      InputFile(remote, .events), try #require(remote.contentSum), lines: 100,
      span: Instant(milliseconds: 0)...Instant(milliseconds: 1), options)
    let source = source(storage, sizes: [100, 100, 100], known: KnownFiles([file]))
    let block = LineBlock(capacity: 1 << 12)
    while try source.next(block) != nil {}
    #expect(storage.names("request") == ["2"])
    #expect(Set(storage.names("read")) == ["0", "2"])
  }

  @Test("A refusal counts when it is the object's turn; stopping ends what was requested")
  func refusal() throws {
    let storage = Storage(refused: ["3", "5"])
    let source = source(storage, sizes: Array(repeating: 100, count: 20))
    let block = LineBlock(capacity: 1 << 12)
    for _ in 0..<3 { _ = try source.next(block) }
    #expect(throws: Refusal(name: "3")) { try source.next(block) }
    #expect(storage.names("end") == ["0", "1", "2", "3"])
    source.stop()
    #expect(Set(storage.names("end")) == Set((0..<12).map { "\($0)" }))
    #expect(try source.next(block) == nil)
  }
}
