import BatchFoundation
import Testing

@testable import GameRules

@Suite("Canonical values") struct CanonicalViewTests {
  private func canonical(_ json: String, dropsEmpty: Bool = true, dropsEmptied: Bool = false) throws -> String {
    var tape = JSONTape()
    var reader = JSONReader()
    _ = try Array(json.utf8).withUnsafeBufferPointer { try reader.read($0, onto: &tape) }
    let view = tape.view(at: 0)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: view.size, alignment: 1)
    defer { memory.deallocate() }
    var writer = ViewWriter(at: memory)
    CanonicalView(dropsEmpty: dropsEmpty, dropsEmptied: dropsEmptied).write(view, to: &writer)
    #expect(writer.at - memory <= view.size)
    var text = ByteBuffer()
    CanonicalJSON.append(JSONView(at: memory), to: &text)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  @Test("What has nothing in it any more is dropped where a service asks for it, and stays where none does")
  func dropsEmptied() throws {
    let json = #"{"b":{"c":null,"d":[""]},"a":[null,{"e":""},[],{"f":1}],"g":{}}"#
    #expect(try canonical(json, dropsEmptied: true) == #"{"a":[{"f":1}]}"#)
    #expect(try canonical(json) == #"{"a":[null,{},[],{"f":1}],"b":{"d":[""]},"g":{}}"#)
  }

  @Test("Names are in the order of their bytes at every depth, and arrays as they are")
  func orders() throws {
    let json = #"{"b":[{"z":1,"a":[3,{"y":2,"x":1}]},2],"a":{"é":0,"e":{"2":"","10":"t"}},"B":1.50}"#
    #expect(
      try canonical(json, dropsEmpty: false)
        == #"{"B":1.50,"a":{"e":{"10":"t","2":""},"é":0},"b":[{"a":[3,{"x":1,"y":2}],"z":1},2]}"#)
  }

  @Test("Members that are dropped are dropped in ordered objects and in others, elements never")
  func drops() throws {
    #expect(try canonical(#"{"a":null,"b":{"c":"","d":[null,""]},"e":1}"#) == #"{"b":{"d":[null,""]},"e":1}"#)
    #expect(try canonical(#"{"e":1,"b":{"d":[null,""],"c":""},"a":null}"#) == #"{"b":{"d":[null,""]},"e":1}"#)
    #expect(try canonical(#"{"e":"","b":null}"#, dropsEmpty: false) == #"{"e":""}"#)
  }

  @Test("More members than are moved to their place one by one")
  func many() throws {
    let names = (10..<80).map { "\"n\($0)\":\($0)" }
    #expect(
      try canonical("{\(names.reversed().joined(separator: ","))}") == "{\(names.joined(separator: ","))}")
  }
}
