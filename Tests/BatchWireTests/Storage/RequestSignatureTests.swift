import BatchFoundation
import Testing

@testable import BatchWire

/// The SHA-256 of no bytes.
let noBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/// Values of the published test suite of Signature Version 4 and of the examples in the S3 API reference.
@Suite("Signatures") struct RequestSignatureTests {
  struct Case: Sendable {
    var method = "GET"
    var path = "/"
    var query: [(String, String)] = []
    var headers: [(String, String)] = []
    var bodyHash = noBody
    var signature: String
  }

  static let suite: [Case] = [
    Case(signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    Case(method: "POST", signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    Case(
      query: [("Param2", "value2"), ("Param1", "value1")],
      signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    Case(
      path: "/\(RequestSignature.encoded("ሴ", keeping: "/"))",
      signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
    Case(
      headers: [("My-Header1", "value2,value2,value1")],
      signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
    Case(
      headers: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
      signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
  ]

  @Test("The requests of the test suite", arguments: suite)
  func signsSuite(_ request: Case) {
    let signature = RequestSignature(
      region: "us-east-1", service: "service",
      credentials: StorageCredentials(id: "AKIDEXAMPLE", secret: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")))
    let time = "20150830T123600Z"
    let headers = [("Host", "example.amazonaws.com"), ("X-Amz-Date", time)] + request.headers
    let names = headers.map { $0.0.lowercased() }.sorted().joined(separator: ";")
    #expect(
      signature.authorization(
        request.method, path: request.path, query: request.query, headers: headers, bodyHash: request.bodyHash,
        time: time)
        == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=\(names), "
        + "Signature=\(request.signature)")
  }

  static let objects: [Case] = [
    Case(
      path: "/test.txt", headers: [("Range", "bytes=0-9")],
      signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
    Case(
      method: "PUT", path: "/\(RequestSignature.encoded("test$file.text"))",
      headers: [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
      bodyHash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
      signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
    Case(
      query: [("lifecycle", "")], signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    Case(
      query: [("prefix", "J"), ("max-keys", "2")],
      signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ]

  @Test("The requests of the API reference", arguments: objects)
  func signsObjects(_ request: Case) {
    let signature = RequestSignature(
      region: "us-east-1", service: "s3",
      credentials: StorageCredentials(
        id: "AKIAIOSFODNN7EXAMPLE", secret: Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")))
    let time = "20130524T000000Z"
    let headers =
      [("host", "examplebucket.s3.amazonaws.com"), ("x-amz-date", time), ("x-amz-content-sha256", request.bodyHash)]
      + request.headers
    let found = signature.authorization(
      request.method, path: request.path, query: request.query, headers: headers, bodyHash: request.bodyHash, time: time
    )
    #expect(found.hasSuffix("Signature=\(request.signature)"), "\(found)")
  }

  @Test("Text is encoded byte by byte, and times have no separators")
  func spelling() {
    #expect(RequestSignature.encoded("a b+c/ü~") == "a%20b%2Bc%2F%C3%BC~")
    #expect(RequestSignature.encoded("a b+c/ü~", keeping: "/") == "a%20b%2Bc/%C3%BC~")
    #expect(Instant(milliseconds: 1_440_938_160_999).basicText == "20150830T123600Z")
  }
}
