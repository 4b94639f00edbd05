import BatchConfiguration
import BatchFoundation
import Testing

/// What is missing in lines that are no JSON, in words that hold none of their values.
@Suite struct RecordFaultTests {
  @Test(arguments: [
    (#"{"a":"b","c":"de"#, "the line ends within a string: the file may be truncated"),
    (#"{"a":"b","#, "the line ends within an object: the file may be truncated"),
    (#"{"a":[1,2"#, "the line ends within an array: the file may be truncated"),
    (#"{"a":1 "b":2}"#, "expected ',' or '}' after the value of 'a'"),
    (#"{"ada@example.com":1 "b":2}"#, "expected ',' or '}' after the value of '…'"),
    (#"{"a":tru}"#, "expected a value for 'a': true, false, null, a number, a string in double quotes, [ or {"),
    (#"{"a":1,}"#, "expected a key in double quotes in the document"),
    (
      #"{"a":[1,]}"#,
      "expected an element of 'a': true, false, null, a number, a string in double quotes, [ or {"
    ),
    // Records have no comments.
    ("// x", "expected a value: true, false, null, a number, a string in double quotes, [ or {"),
    (#"{"a":1} {"#, "unexpected content after the end of the document"),
  ]) func isSaidInWords(line: String, words: String) throws {
    let bytes = Array(line.utf8)
    let error = try #require(throws: JSONError.self) { try JSONNode.parse(bytes) }
    #expect(JSONFault.words(ofRecord: bytes, at: error.offset) == words)
  }
}
