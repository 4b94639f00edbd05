import BatchFoundation
import Testing

@Suite struct LineDigestTests {
  private func digest(_ text: String, _ kind: InputKind = .events) -> LineDigest {
    var text = text
    return text.withUTF8 { bytes in
      LineDigest(line: bytes.baseAddress.map { Text(base: $0, count: bytes.count) } ?? .empty, kind: kind)
    }
  }

  @Test func staysTheSameForEver() {
    // Stores hold these values: a change here makes every old line new.
    let digests = ["", "a", "12345678", "0123456789abcdef", "{\"deviceId\":\"0123456789abcdef\"}"].map { digest($0) }
    #expect(
      digests.map { String($0.high, radix: 16) } == [
        "88f60bea30a4d095", "7415bf4be8e0af9e", "584b7d4edbb1d2b0", "2893622a78223eca", "48d1d46808797cd0",
      ])
    #expect(
      digests.map { String($0.low, radix: 16) } == [
        "9ea149dae6893945", "380217e54c81a20d", "1daf716084b38d1", "21ecd62f0cb94fe1", "e764f59623efd538",
      ])
    #expect(String(DeviceHash("device").value, radix: 16) == "6063ae09576af28")
  }

  @Test func tellsLengthsKindsAndSingleBitsApart() {
    var seen: Set<LineDigest> = []
    for length in 0..<100 {
      let zeros = String(repeating: "\0", count: length)
      for kind in InputKind.allCases { seen.insert(digest(zeros, kind)) }
      for place in 0..<length {
        var bytes = Array(zeros.utf8)
        for bit in 0..<7 {
          bytes[place] = 1 << bit
          seen.insert(digest(String(decoding: bytes, as: UTF8.self)))
        }
      }
    }
    #expect(seen.count == 300 + 7 * 4950)
    #expect(Set(seen.map(\.high)).count == seen.count)
    #expect(Set(seen.map(\.low)).count == seen.count)
  }
}
