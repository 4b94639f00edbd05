import Glibc
import Testing

@testable import BatchCommands

@Suite struct ColourTests {
  @Test(
    arguments: [
      (["run", "j"], ["run", "j"], Colour.auto), (["run", "--color=always", "j"], ["run", "j"], .always),
      (["--color", "never", "run"], ["run"], .never),
      (["run", "--", "--color=always"], ["run", "--", "--color=always"], .auto),
      (["run", "--color=red"], ["run"], nil), (["run", "--color"], ["run"], nil),
    ] as [([String], [String], Colour?)])
  func optionStandsAnywhere(arguments: [String], rest: [String], colour: Colour?) {
    let taken = Colour.take(from: arguments)
    #expect(taken.rest == rest)
    #expect(taken.colour == colour)
  }

  @Test func aPipeAndNoColorSwitchItOff() {
    #expect(Colour.always.isOn(-1) { _ in "1" })
    #expect(!Colour.auto.isOn(-1) { _ in nil })
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    defer { close(terminal) }
    #expect(Colour.auto.isOn(terminal) { _ in nil })
    #expect(Colour.auto.isOn(terminal) { $0 == "NO_COLOR" ? "" : nil })
    #expect(!Colour.auto.isOn(terminal) { $0 == "NO_COLOR" ? "1" : nil })
    #expect(!Colour.auto.isOn(terminal) { $0 == "TERM" ? "dumb" : nil })
    #expect(!Colour.never.isOn(terminal) { _ in nil })
  }

  @Test func theGraveWordIsColoured() {
    #expect(Colour.coloured("j.json:1: error: x; warning: y") == "j.json:1: \u{1B}[1;31merror:\u{1B}[0m x; warning: y")
    #expect(Colour.coloured("warning: y") == "\u{1B}[33mwarning:\u{1B}[0m y")
    #expect(Colour.coloured("done") == "done")
  }
}
