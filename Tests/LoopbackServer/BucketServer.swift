import BatchFoundation

/// A bucket on the loopback device, as far as reading and writing need one: lists with pages, ranges, uploads, conditions, and what
/// a test makes it do instead.
package final class BucketServer: Sendable {
  package struct Object: Sendable {
    package var bytes: [UInt8]
    package var tag: String

    package init(_ text: String, tag: String) { self.init(Array(text.utf8), tag: tag) }

    package init(_ bytes: [UInt8], tag: String) { (self.bytes, self.tag) = (bytes, "\"\(tag)\"") }
  }

  package struct Request: Sendable {
    /// Counted from 0.
    package var number: Int
    /// Without a leading slash and the bucket, decoded; empty for a list.
    package var key: String
    package var head: String
    package var range: Range<Int>?

    package var method: String { String(head.prefix { $0 != " " }) }
    /// Of the query, decoded; nil without it.
    package func value(_ name: String) -> String? { BucketServer.value(name, of: head.split(separator: " ")[1]) }
    package var isList: Bool { head.hasPrefix("GET /\(BucketServer.bucket)/?") }
  }

  /// What happens to a request instead of its answer.
  package enum Instead: Sendable {
    case status(Int, code: String, headers: [String] = [])
    /// The answer, cut off after so many bytes of its body.
    case cut(after: Int)
    /// The request has its effect, but its answer is lost.
    case lost
    /// A body that is sent with the status 200.
    case body(String)
  }

  package static let bucket = "exports"
  /// The keys on a page of a list.
  package static let page = 2

  private let state: Guarded<State>
  private let server: LoopbackServer

  fileprivate struct State {
    var objects: [String: Object]
    var requests = 0
    /// The parts of uploads that have neither ended nor been aborted, by upload and number.
    var uploads: [String: [Int: [UInt8]]] = [:]
    var begun = 0
    var hook: @Sendable (Request) -> Instead? = { _ in nil }
  }

  package init(_ objects: [String: Object]) throws {
    let state = Guarded(State(objects: objects))
    self.state = state
    server = try LoopbackServer { connection in
      while let head = connection.readHead() { Self.answer(head, connection, state) }
    }
  }

  package var port: Int { server.port }
  package var endpoint: String { "http://127.0.0.1:\(port)" }
  package var arrivals: [LoopbackServer.Arrival] { server.arrivals }

  package func object(_ key: String) -> Object? { state.withLock { $0.objects[key] } }
  package var keys: [String] { state.withLock { $0.objects.keys.sorted() } }
  /// The number of uploads whose parts are still there.
  package var uploads: Int { state.withLock { $0.uploads.count } }

  package func put(_ key: String, _ object: Object?) { state.withLock { $0.objects[key] = object } }

  /// - Parameter hook: returns nil for requests that are answered as usual.
  package func interfere(_ hook: @escaping @Sendable (Request) -> Instead?) { state.withLock { $0.hook = hook } }

  private static func answer(_ head: String, _ connection: LoopbackConnection, _ state: Guarded<State>) {
    let target = head.split(separator: " ")[1]
    let path = target.prefix { $0 != "?" }.dropFirst()
    var request = state.withLock { state in
      defer { state.requests += 1 }
      return Request(
        number: state.requests, key: decoded(path.drop { $0 != "/" }.dropFirst()), head: head, range: nil)
    }
    func header(_ name: String) -> String? {
      head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }.map {
        String($0.dropFirst(name.count + 2))
      }
    }
    if let ends = header("range")?.dropFirst("bytes=".count).split(separator: "-").compactMap({ Int($0) }),
      ends.count == 2
    {
      request.range = ends[0]..<ends[1] + 1
    }
    let body = request.method == "GET" ? [] : connection.readBody()
    let (objects, hook) = state.withLock { ($0.objects, $0.hook) }
    var cut: Int?
    var isLost = false
    switch hook(request) {
    case .status(let status, let code, let headers)?: return refuse(status, code, headers, connection)
    case .cut(let count)?: cut = count
    case .lost?: isLost = true
    case .body(let text)?: return connection.answer(200, [], text)
    case nil: break
    }
    guard path.split(separator: "/").first == bucket[...] else { return refuse(404, "NoSuchBucket", [], connection) }
    if request.isList { return connection.answer(200, ["Content-Type: application/xml"], list(objects, target)) }
    if request.method != "GET" {
      let answer = state.withLock { $0.change(request, body, none: header("if-none-match"), match: header("if-match")) }
      if isLost { return connection.close() }
      if answer.status >= 400 { return refuse(answer.status, answer.text, [], connection) }
      return connection.answer(answer.status, answer.tag.map { ["ETag: \($0)"] } ?? [], answer.text)
    }
    guard let object = objects[request.key] else { return refuse(404, "NoSuchKey", [], connection) }
    if let wanted = header("if-match"), wanted != object.tag {
      return refuse(412, "PreconditionFailed", [], connection)
    }
    guard let range = request.range, range.lowerBound < object.bytes.count else {
      let size = ["Content-Range: bytes */\(object.bytes.count)"]
      return refuse(request.range == nil ? 400 : 416, "InvalidRange", size, connection)
    }
    let end = min(range.upperBound, object.bytes.count)
    let bytes = Array(object.bytes[range.lowerBound..<end])
    let headers = [
      "HTTP/1.1 206 Partial", "Content-Length: \(bytes.count)", "ETag: \(object.tag)",
      "Content-Range: bytes \(range.lowerBound)-\(end - 1)/\(object.bytes.count)",
    ]
    connection.send(Array((headers.joined(separator: "\r\n") + "\r\n\r\n").utf8) + bytes.prefix(cut ?? bytes.count))
    if cut != nil { connection.close() }
  }

  private static func refuse(_ status: Int, _ code: String, _ headers: [String], _ connection: LoopbackConnection) {
    connection.answer(
      status, headers, "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>secret words</Message></Error>")
  }

  private static func list(_ objects: [String: Object], _ target: Substring) -> String {
    func value(_ name: String) -> String? { Self.value(name, of: target) }
    let keys = objects.keys.filter { $0.hasPrefix(value("prefix") ?? "") }.sorted()
    let rest = keys.drop { key in value("continuation-token").map { key <= $0 } ?? false }
    let shown = rest.prefix(page)
    let entries = shown.map { key in
      "<Contents><Key>\(key.replacing(" ", with: "+"))</Key><Size>\(objects[key]?.bytes.count ?? 0)</Size>"
        + "<ETag>\((objects[key]?.tag ?? "").replacing("\"", with: "&quot;"))</ETag></Contents>"
    }
    let more = rest.count > page
    return
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url</EncodingType>"
      + "<IsTruncated>\(more)</IsTruncated>\(entries.joined())"
      + (more ? "<NextContinuationToken>\(shown.last ?? "")</NextContinuationToken>" : "") + "</ListBucketResult>"
  }

  fileprivate static func value(_ name: String, of target: Substring) -> String? {
    let query = target.drop { $0 != "?" }.dropFirst().split(separator: "&")
    return query.first { $0.hasPrefix("\(name)=") }.map { decoded($0.dropFirst(name.count + 1)) }
  }

  private static func decoded(_ text: some StringProtocol) -> String {
    let parts = text.split(separator: "%", omittingEmptySubsequences: false)
    var bytes = Array((parts.first ?? "").utf8)
    for part in parts.dropFirst() {
      bytes += [UInt8(part.prefix(2), radix: 16) ?? 0] + Array(part.dropFirst(2).utf8)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension BucketServer.State {
  /// Puts an object or a part, and begins, ends or aborts an upload.
  fileprivate mutating func change(
    _ request: BucketServer.Request, _ body: [UInt8], none: String?, match: String?
  ) -> (status: Int, tag: String?, text: String) {
    let upload = request.value("uploadId")
    if let upload, uploads[upload] == nil { return (404, nil, "NoSuchUpload") }
    switch (request.method, upload) {
    case ("DELETE", let upload?):
      uploads[upload] = nil
      return (204, nil, "")
    case ("POST", nil):
      begun += 1
      uploads["u/\(begun)"] = [:]
      return (
        200, nil, "<InitiateMultipartUploadResult><UploadId>u/\(begun)</UploadId></InitiateMultipartUploadResult>"
      )
    case ("PUT", let upload?):
      uploads[upload]?[Int(request.value("partNumber") ?? "") ?? 0] = body
      return (200, Self.tag(body), "")
    default: break
    }
    let present = objects[request.key]
    if none != nil && present != nil || match != nil && present?.tag != match {
      return (412, nil, "PreconditionFailed")
    }
    let parts = upload.flatMap { uploads.removeValue(forKey: $0) }
    let bytes = parts.map { $0.sorted { $0.key < $1.key }.flatMap(\.value) } ?? body
    if let parts {
      let named = parts.sorted { $0.key < $1.key }.map {
        "<Part><PartNumber>\($0.key)</PartNumber><ETag>\(Self.tag($0.value))</ETag></Part>"
      }
      guard body.elementsEqual("<CompleteMultipartUpload>\(named.joined())</CompleteMultipartUpload>".utf8) else {
        return (400, nil, "InvalidPart")
      }
    }
    var object = BucketServer.Object(bytes, tag: "")
    object.tag = Self.tag(bytes)
    objects[request.key] = object
    return (
      200, object.tag,
      upload == nil ? "" : "<CompleteMultipartUploadResult><ETag>\(object.tag)</ETag></CompleteMultipartUploadResult>"
    )
  }

  private static func tag(_ bytes: [UInt8]) -> String { "\"\(Hexadecimal.text(of: SHA256.hash(bytes)).prefix(32))\"" }
}
