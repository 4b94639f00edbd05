import TestSupport
import Testing

/// Whatever reaches a terminal goes through `Streams` or `OutputFile`, which spell out what would take control of it.
@Suite struct OneWriterTests {
  /// Files that name the streams for another reason: to write there, or to ask what they are.
  private static let writers = [
    "Sources/BatchCommands/Terminal/Streams.swift", "Sources/BatchPipeline/Sinks/OutputFile.swift",
    "Sources/BatchFoundation/Files/FileStatus.swift", "Sources/BatchFoundation/Programs/LineProgram.swift",
    "Sources/BatchCommands/Terminal/ProcessSetup.swift",
  ]

  private static let words = [
    "FileHandle.standard", "fputs(", "fprintf(", "debugPrint(", "Swift.print(", "STDOUT_FILENO", "STDERR_FILENO",
  ]

  @Test func noPrintGoesAroundIt() throws {
    for file in try Checkout.files(below: "Sources") where file.hasSuffix(".swift") && !Self.writers.contains(file) {
      let text = try Checkout.text(file)
      let words = Self.words.filter { text.contains($0) } + (text.contains("func print(") ? [] : ["print("])
      guard words.contains(where: { text.contains($0) }) else { continue }
      for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        let code = line.prefix { $0 != "/" }.replacing("fingerprint(", with: "")
          .replacing("isatty(STDOUT_FILENO)", with: "").replacing("isatty(STDERR_FILENO)", with: "")
        for word in words { #expect(!code.contains(word), "\(file):\(number + 1) writes by itself") }
      }
    }
  }
}
