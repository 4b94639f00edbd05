import BatchFoundation
import Testing

@testable import BatchIngest

@Suite struct UnknownFieldsTests {
  @Test func keepsTheSameUnknownNamesInWhateverOrderTheyCome() {
    func counted(_ names: [Int]) -> [UnknownField] {
      var fields = UnknownFields()
      for name in names {
        Array("name\(10_000 + name)".utf8).withUnsafeBufferPointer { bytes in
          if let base = bytes.baseAddress { fields.note(Text(base: base, count: bytes.count)) }
          fields.commit()
        }
      }
      return fields.sorted
    }
    let names = Array(0..<1500) + Array(0..<1500)
    #expect(counted(names) == counted(names.reversed()))
    #expect(counted(names).count == 1000)
    #expect(counted(names).last == UnknownField(name: "name10999", records: 2))
  }
}
