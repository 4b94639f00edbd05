import Testing

@testable import BatchIngest

@Suite struct InflaterTests {
  /// `printf 'hello\nworld\n' | gzip -n`
  private let hello: [UInt8] = [
    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0xE7, 0x2A, 0xCF, 0x2F, 0xCA, 0x49, 0xE1, 2, 0,
    0xFF, 0x5D, 0xC5, 0xC4, 0x0C, 0, 0, 0,
  ]

  private func inflate(_ bytes: [UInt8], step: Int, room: Int) throws -> (text: String, fault: GzipFault?) {
    var inflater = try Inflater()
    var output: [UInt8] = []
    var at = 0
    var space = [UInt8](repeating: 0, count: room)
    while at < bytes.count {
      var piece = bytes[at..<min(at + step, bytes.count)]
      at += piece.count
      repeat {
        let done = unsafe piece.withUnsafeBytes { input in
          unsafe space.withUnsafeMutableBytes { unsafe inflater.inflate(input, into: $0) }
        }
        output += space[..<done.produced]
        piece = piece.dropFirst(done.consumed)
        if let fault = done.fault { return (String(decoding: output, as: UTF8.self), fault) }
        if done.produced == 0, done.consumed == 0 { break }
      } while true
    }
    return (String(decoding: output, as: UTF8.self), inflater.faultAtEnd)
  }

  @Test(arguments: [1, 3, 1000], [1, 5, 1000])
  func readsMembersOneAfterAnother(step: Int, room: Int) throws {
    let (text, fault) = try inflate(hello + hello + [0, 0, 0], step: step, room: room)
    #expect(text == "hello\nworld\nhello\nworld\n")
    #expect(fault == nil)
  }

  @Test(arguments: [1, 1000])
  func namesTheDamage(step: Int) throws {
    var wrong = hello
    wrong[24] ^= 1
    #expect(try inflate(wrong, step: step, room: 100).fault == .wrongChecksum)
    wrong = hello
    wrong[28] ^= 1
    #expect(try inflate(wrong, step: step, room: 100).fault == .wrongChecksum)
    #expect(try inflate(Array(hello.dropLast(3)), step: step, room: 100).fault == .truncated)
    #expect(try inflate(Array(hello.prefix(12)), step: step, room: 100).fault == .truncated)
    #expect(try inflate(Array("plain text".utf8), step: step, room: 100).fault == .noContent)
    #expect(try inflate([], step: step, room: 100).fault == .noContent)
    #expect(try inflate(hello + [1, 2, 3], step: step, room: 100).fault == .trailingBytes)
    #expect(try inflate(hello + [0x1F, 2, 3], step: step, room: 100).fault == .trailingBytes)
    wrong = hello
    wrong[10] = 0x07
    let (text, fault) = try inflate(wrong, step: step, room: 100)
    #expect(text == "")
    #expect(fault == .corrupt)
  }

  @Test("Behind damage there is nothing, also where a whole member follows")
  func readsNothingBehindDamage() throws {
    var inflater = try Inflater()
    var space = [UInt8](repeating: 0, count: 100)
    var wrong = hello
    wrong[24] ^= 1
    let bytes = wrong + hello
    var at = 0
    var steps: [InflateStep] = []
    for _ in 0..<3 {
      let step = unsafe bytes[at...].withUnsafeBytes { input in
        unsafe space.withUnsafeMutableBytes { unsafe inflater.inflate(input, into: $0) }
      }
      at += step.consumed
      steps.append(step)
    }
    #expect(steps.map(\.fault) == [.wrongChecksum, .corrupt, .corrupt])
    #expect(steps.map(\.produced) == [12, 0, 0])
    #expect(at <= hello.count)
    #expect(inflater.faultAtEnd == .corrupt)
  }
}
