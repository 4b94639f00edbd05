/// A command line of this program that a person can paste into a POSIX shell as it is printed.
package struct ShellCommand: Sendable, Equatable {
  /// Without the name of the program.
  package var words: [String]

  package init(_ words: String...) { self.words = words }

  package init(_ words: [String]) { self.words = words }

  package var text: String { (["engage-batch"] + words.map(Self.quoted)).joined(separator: " ") }

  /// A word with every character of it standing for itself.
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
