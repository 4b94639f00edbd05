/// A command line of this program that can be pasted into a POSIX shell as printed.
package struct ShellCommand: Sendable, Equatable {
  /// The words without the program's name.
  package var words: [String]

  package init(_ words: String...) { self.words = words }

  package init(_ words: [String]) { self.words = words }

  package var text: String { (["engage-batch"] + words.map(Self.quoted)).joined(separator: " ") }

  /// Returns the word with every character taken literally.
  static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"),
          UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "@"), UInt8(ascii: "="), UInt8(ascii: ":"),
          UInt8(ascii: ","):
          true
        default: false
        }
      }
    guard !isPlain else { return text }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
