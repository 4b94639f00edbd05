import BatchFoundation
import GameRules
import Testing

@Suite struct ImageMessageTests {
  @Test(
    arguments: [
      (#"{"url":"u","height":1,"width":2,"spritemap":{"background":{}},"layout":{"portrait":{}}}"#, [], ["u"]),
      (
        #"{"url":"u","height":1,"width":2,"spritemap":{"background":{}},"layout":{"landscape":{},"portrait":{}}}"#, [],
        ["u"]
      ),
      ("{}", ["url", "height", "width", "spritemap", "layout"], []),
      (
        #"{"spritemap":{},"layout":{},"url":5}"#, ["height", "width", "spritemap.background", "layout.orientation"], []
      ),
      (
        #"{"spritemap":5,"layout":[],"url":"","height":0,"width":0}"#, ["spritemap.background", "layout.orientation"],
        [""]
      ),
      (
        #"{"url":null,"height":1,"width":1,"spritemap":{"background":null},"layout":{"portrait":null}}"#,
        [
          "url", "spritemap.background", "layout.orientation",
        ], []
      ),
      ("5", ["url", "height", "width", "spritemap", "layout"], []),
    ] as [(String, [String], [String])])
  func saysWhatIsMissing(image: String, problems: [String], assets: [String]) throws {
    let message = try #require(ImageMessage(try JSONNode.parse(Array(image.utf8))))
    #expect(message.problems.map(\.rawValue) == problems)
    #expect(message.isValid == problems.isEmpty)
    #expect(message.assets == assets)
  }

  @Test func whatIsAbsentIsNoMessage() throws {
    #expect(ImageMessage(nil) == nil)
    #expect(ImageMessage(JSONNode(.null)) == nil)
  }
}
