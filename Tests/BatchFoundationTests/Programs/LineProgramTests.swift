import Glibc
import TestSupport
import Testing

@testable import BatchFoundation

@Suite struct LineProgramTests {
  private func program(_ script: String, timeout: Int64 = 60_000) throws -> LineProgram {
    LineProgram(
      LineProgram.Command(words: ["sh", "-c", script], folder: "/", timeout: Milliseconds(timeout)))
  }

  private func lines(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

  private func texts(_ lines: [[UInt8]]) -> [String] { lines.map { String(decoding: $0, as: UTF8.self) } }

  @Test func answersInOrderFromOneProcess() throws {
    let program = try program("n=0; while read -r line; do n=$((n+1)); echo \"$n $line\"; done")
    let first = program.ask(lines("a", "b"))
    #expect(texts(first.answers) == ["1 a", "2 b"] && first.failure == nil)
    #expect(texts(program.ask(lines("c")).answers) == ["3 c"])
  }

  /// It ends at once, or when the next question may have been written already.
  @Test(arguments: ["", "; sleep 0.1"]) func oneThatEndsBetweenQuestionsIsStartedAgain(pause: String) throws {
    let program = try program("read -r line; echo \"$line!\"\(pause)")
    for text in ["a", "b"] {
      let result = program.ask(lines(text))
      #expect(texts(result.answers) == ["\(text)!"] && result.failure == nil)
    }
  }

  /// It used to get the keys of a game.
  @Test func getsOrdinaryVariablesAndThoseItWasPromised() throws {
    for (name, value) in [("DELTADNA_HASH_SECRET", "canary"), ("PROGRAM_TEST_KEY", "given"), ("LC_TEST", "C")] {
      setenv(name, value, 1)
    }
    let script = "while read -r name; do eval echo \\$$name; done"
    let program = LineProgram(
      LineProgram.Command(
        words: ["sh", "-c", script], folder: "/", timeout: Milliseconds(60_000), variables: ["PROGRAM_TEST_KEY"]))
    #expect(
      texts(program.ask(lines("DELTADNA_HASH_SECRET", "PROGRAM_TEST_KEY", "LC_TEST")).answers) == ["", "given", "C"])
  }

  @Test func moreThanAPipeHoldsGoesThroughBothWays() throws {
    let program = try program("cat")
    let many = (0..<2000).map { Array("\($0) \(String(repeating: "x", count: 500))".utf8) }
    let result = program.ask(many)
    #expect(result.answers == many && result.failure == nil)
  }

  @Test func whatFailsLeavesTheLinesBehindWithoutAnAnswer() throws {
    let dying = try program("read -r line; echo one; exit 1")
    let died = dying.ask(lines("a", "b", "c"))
    #expect(texts(died.answers) == ["one"] && died.failure == .ended)
    #expect(texts(dying.ask(lines("d")).answers) == ["one"])

    let hung = try program("read -r line; echo one; sleep 100 & wait", timeout: 2000).ask(lines("a", "b"))
    #expect(texts(hung.answers) == ["one"] && hung.failure == .hung)
    #expect(try program("while read -r line; do printf '1\\n2\\n'; done").ask(lines("a")).failure == .flooded)
    #expect(try program("head -c 100000 /dev/zero").ask(lines("a")).failure == .flooded)
    let absent = LineProgram(
      LineProgram.Command(words: ["/absent/program"], folder: "/", timeout: Milliseconds(1000)))
    #expect(absent.ask(lines("a")).failure == .ended)
  }

  /// It may ignore its input, and close its output long before it ends.
  @Test(
    arguments: [
      ("cat > /dev/null", nil), ("exit 0", nil), ("exec > /dev/null; sleep 0.2; read -r line; [ \"$line\" = a ]", nil),
      ("read -r line; [ \"$line\" = b ]", .failed(exitCode: 1)),
      ("exec > /dev/null; sleep 0.2; exit 3", .failed(exitCode: 3)),
      ("kill -9 $$", .failed(exitCode: nil)), ("/absent/program", .failed(exitCode: 127)),
    ] as [(String, LineProgram.Failure?)])
  func oneThatIsToldALineIsJudgedByItsExitCode(script: String, failure: LineProgram.Failure?) throws {
    #expect(try program(script).sendLast(Array("a".utf8)) == failure)
  }

  @Test func oneThatDoesNotEndIsHungEvenWithoutOutput() throws {
    #expect(try program("exec > /dev/null; sleep 100", timeout: 500).sendLast(Array("a".utf8)) == .hung)
  }
}
