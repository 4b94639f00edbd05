/// The values that messages may show: names of types, and texts that look like times, which reveal nothing personal.
package enum ShownValue {
  package static func isName(_ text: String) -> Bool {
    isShort(text) && text.utf8.allSatisfy { isLetter($0) || "_-".utf8.contains($0) }
  }

  package static func isTime(_ text: String) -> Bool {
    isShort(text) && text.utf8.allSatisfy { 0x30...0x39 ~= $0 || "-:.,+ TtZzeE/".utf8.contains($0) }
  }

  private static func isShort(_ text: String) -> Bool { 1...40 ~= text.utf8.count }

  private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
}
