import BatchFoundation

/// An address that stands where a job names an input. Inputs are files; nothing is read over the network.
struct InputAddress {
  /// Such as `s3`.
  let scheme: String

  /// Nil for a path.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
      let first = bytes.first, Self.isLetter(first), bytes[..<colon].allSatisfy(Self.isOfScheme)
    else { return nil }
    scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
  }

  /// How its bytes come to a run all the same.
  var remedy: String {
    let program =
      switch scheme {
      case "s3": "aws s3 cp ADDRESS -"
      case "gs": "gcloud storage cat ADDRESS"
      case "http", "https": "curl -fsS ADDRESS"
      default: "PROGRAM ADDRESS"
      }
    return "copy it to a disk, or name '-' and pipe it in: \(program) | engage-batch run JOB"
  }

  private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

  private static func isOfScheme(_ byte: UInt8) -> Bool {
    isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "+-.".utf8.contains(byte)
  }
}
