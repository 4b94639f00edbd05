import BatchFoundation

/// Writes an object in one request or, beyond the size of a part, in a multipart upload; buffers one part.
final class ObjectWriter: RemoteWriter {
  /// The size of every part but the last, because some services require equal sizes.
  private static let partBytes = 8 << 20
  /// The maximum number of parts that S3 accepts.
  private static let mostParts = 10_000

  private let address: RemoteAddress
  private let text: String
  private let condition: RemoteCondition?
  private let check: () throws -> Void
  private let storage: ObjectStorage
  private var part: [UInt8] = []
  /// The id of the multipart upload; nil until one begins.
  private var upload: String?
  private var tags: [String] = []

  init(
    _ address: RemoteAddress, _ text: String, _ condition: RemoteCondition?, _ check: @escaping () throws -> Void,
    _ storage: ObjectStorage
  ) {
    (self.address, self.text, self.condition, self.check, self.storage) = (address, text, condition, check, storage)
  }

  deinit {
    // The error that ended the upload was already reported, and parts that cannot be removed are not visible.
    if let upload { _ = try? send(.delete, [("uploadId", upload)]) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty {
      if part.count == Self.partBytes { try sendPart() }
      let count = unsafe min(rest.count, Self.partBytes - part.count)
      unsafe part.append(contentsOf: rest.prefix(count))
      unsafe rest = rest.dropFirst(count)
    }
  }

  func finish() throws -> String? {
    try check()
    guard upload != nil else { return try send(.put, [], part, isConditional: true).fields["etag"] }
    try sendPart()
    let parts = tags.enumerated().map { number, tag in
      "<Part><PartNumber>\(number + 1)</PartNumber><ETag>\(XMLWriter.escaped(tag))</ETag></Part>"
    }
    let answer = try send(
      .post, [("uploadId", upload ?? "")],
      Array("<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>".utf8), isConditional: true)
    upload = nil
    // The object is complete even if the response has no tag.
    return answer.document()?.first("ETag")?.text
  }

  private func sendPart() throws {
    try check()
    let upload = try upload ?? begin()
    self.upload = upload
    guard tags.count < Self.mostParts else {
      throw StorageError(text, .address("the object is too large; the limit is 10,000 parts of 8 MiB"), .write)
    }
    let answer = try send(.put, [("partNumber", "\(tags.count + 1)"), ("uploadId", upload)], part)
    guard let tag = answer.fields["etag"] else {
      throw StorageError(text, .unexpected("no tag for a part"), .write)
    }
    tags.append(tag)
    part.removeAll(keepingCapacity: true)
  }

  private func begin() throws -> String {
    let answer = try send(.post, [("uploads", "")])
    guard let id = answer.document()?.first("UploadId")?.text else {
      throw StorageError(text, .unexpected("no upload id"), .write)
    }
    return id
  }

  private var type: String {
    switch PathText.name(of: address.key).split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "json": "application/json"
    default: "application/octet-stream"
    }
  }

  private func send(
    _ method: HTTPRequest.Method, _ query: [(String, String)], _ body: [UInt8] = [], isConditional: Bool = false
  ) throws -> HTTPAnswer {
    var call = ObjectCall(
      method: method, address: address, text: text, query: query, body: body, purpose: .write)
    if method == .delete {
      call.attempts = 1
    } else {
      call.check = check
      // Otherwise, libcurl would send the type of a form, and the service would store it.
      call.headers.append(("Content-Type", type))
    }
    if isConditional, let condition {
      switch condition {
      case .nothing: call.headers.append(("If-None-Match", "*"))
      case .object(let tag): call.headers.append(("If-Match", tag))
      }
    }
    return try storage.send(call)
  }
}
