import BatchDelivery
import BatchFoundation
import BatchWire
import DestinationContract
import FoundationEssentials
import TestSupport
import Testing

@Suite struct FileDestinationTests {
  /// Tells bodies apart; which name it gives does not matter.
  private static func name(_ body: [UInt8]) -> String { String(body.reduce(0) { $0 &* 31 &+ UInt64($1) }) }

  @Test func keepsTheContract() throws {
    try DestinationContract { trouble in
      let folder = try TemporaryFolder()
      let outbox = "\(folder.path)/outbox"
      let make = { try FileManager.default.createDirectory(atPath: outbox, withIntermediateDirectories: true) }
      if trouble != .unavailable { try make() }
      return DestinationContract.Service(
        FileDestination(folder: outbox, form: 0, name: Self.name),
        arrivals: {
          try FileManager.default.contentsOfDirectory(atPath: outbox).map { try folder.read("outbox/\($0)") }
        }, recover: make)
    }.check()
  }

  @Test func aBodyThatIsThereIsNotWrittenAgain() throws {
    let folder = try TemporaryFolder()
    let destination = FileDestination(folder: folder.path, form: 0) { _ in "body" }
    #expect(destination.send(Array("one".utf8), group: 0) == .acknowledged)
    #expect(destination.send(Array("two".utf8), group: 0) == .acknowledged)
    #expect(destination.send(Array("two".utf8), group: 3) == .acknowledged)
    #expect(try folder.names() == ["00000001-body.json", "00000002-body-3.json"])
    #expect(try folder.read("00000001-body.json") == "one")
    #expect(try folder.read("00000002-body-3.json") == "two")
  }

  /// Once, names told nothing of the order.
  @Test func filesAreNumberedInOrderFromTheHighestThatIsThere() throws {
    let folder = try TemporaryFolder()
    try folder.write("00000041-1.json", "taken away later")
    try folder.write("2.json", "of an earlier release")
    for number in [9, 1, 2, 5] {
      let destination = FileDestination(folder: folder.path, form: 0) { "\($0[0])" }
      #expect(destination.send([UInt8(number)], group: 0) == .acknowledged)
    }
    #expect(try folder.names() == ["00000041-1.json", "00000042-9.json", "00000043-5.json", "2.json"])
  }

  @Test func saysWhyNothingCanBeWritten() throws {
    let destination = FileDestination(folder: "/proc/none", form: 0, name: Self.name)
    #expect(
      destination.send([1], group: 0)
        == .notSent(
          CallFault("cannot write to '/proc/none': No such file or directory", stop: .unreachable(.firstFailure))))
  }
}
