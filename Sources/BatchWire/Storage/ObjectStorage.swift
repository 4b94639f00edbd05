package import BatchFoundation
import Glibc

/// The job's `Storage` settings, which determine how a storage service is reached.
package struct StorageSettings: Sendable, Hashable {
  /// The URL of the service; nil for `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or AWS in the region.
  package var endpoint: String?
  /// Nil for `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's region, or `us-east-1`.
  package var region: String?
  /// Whether the bucket is the first part of the path rather than of the host.
  package var usesPaths = false
  package var isAnonymous = false
  package var requesterPays = false

  package init() {}
}

/// Objects in S3 buckets, and files on web servers. One attempt is one request; failed requests are repeated.
package final class ObjectStorage: RemoteStorage {
  /// The state shared by requests. Jobs without addresses never create it, because that reads AWS profiles.
  private struct Session {
    var client: HTTPClient
    var region: String
    var source: CredentialSource
  }

  private let settings: StorageSettings
  private let environment: [String: String]
  private let http: @Sendable () throws -> HTTPSettings
  private let opened = Guarded<Session?>(nil)
  private let backoff: Backoff
  /// The number of repetitions left in the run.
  private let budget: Guarded<Int>
  /// The function that receives the warning of ``noteRetries(_:)``; nil after the first one.
  private let retryNote = Guarded<(@Sendable (String) -> Void)?>(nil)

  /// - Parameters:
  ///   - environment: the variables with credentials.
  ///   - budget: the maximum number of repeated requests in the run.
  ///   - http: returns the connection settings; called before the first request.
  package init(
    _ settings: StorageSettings, environment: [String: String], backoff: Backoff, budget: Int,
    http: @escaping @Sendable () throws -> HTTPSettings
  ) {
    self.environment = environment.filter { !$0.value.isEmpty }
    (self.settings, self.backoff, self.http) = (settings, backoff, http)
    self.budget = Guarded(budget)
  }

  /// Sets a function that receives one warning, when a request that failed three times is sent again.
  package func noteRetries(_ note: @escaping @Sendable (String) -> Void) { retryNote.change { $0 = note } }

  // MARK: - Finding

  package func files(for pattern: RemoteAddress, _ text: String) throws -> [RemoteFile] {
    guard pattern.isBucket else { return try found(pattern, text) }
    let prefix = String(pattern.key.prefix { $0 != "*" && $0 != "?" })
    do {
      return try list(pattern, prefix, text)
    } catch let listing as StorageError where listing.isDenied && prefix == pattern.key && !prefix.isEmpty {
      // Reading may be allowed where listing is not.
      return try found(pattern, text)
    }
  }

  private func list(_ bucket: RemoteAddress, _ prefix: String, _ text: String) throws -> [RemoteFile] {
    var files: [RemoteFile] = []
    var token: String?
    repeat {
      var query = [("list-type", "2"), ("encoding-type", "url"), ("prefix", prefix)]
      if let token { query.append(("continuation-token", token)) }
      let answer = try send(ObjectCall(address: bucket, text: text, isOfBucket: true, query: query, purpose: .list))
      guard let page = answer.document(.file), page.isNamed("ListBucketResult") else {
        throw StorageError(text, .unexpected("something other than a list of objects"))
      }
      let isEncoded = page.first("EncodingType")?.text == "url"
      for entry in page.all("Contents") {
        guard let written = entry.first("Key")?.text, let size = entry.first("Size").flatMap({ UInt64($0.text) })
        else { throw StorageError(text, .unexpected("an object without a key or size")) }
        let decoded = isEncoded ? PercentEncoding.decodedForm(written.utf8) : nil
        let key = decoded.map { String(decoding: $0, as: UTF8.self) } ?? written
        // Such an object only marks a folder.
        if size == 0, key.utf8.last == UInt8(ascii: "/") { continue }
        files.append(
          RemoteFile(
            address: "s3://\(bucket.host)/\(key)", size: size, tag: entry.first("ETag").flatMap { Self.tag($0.text) },
            storage: self))
      }
      let next = page.first("IsTruncated")?.text == "true" ? page.first("NextContinuationToken")?.text : nil
      guard next == nil || next != token else {
        throw StorageError(text, .unexpected("the same page of a list twice"))
      }
      token = next
    } while token != nil
    return files
  }

  /// Finds an object or file by reading its first byte; returns an empty array if it does not exist.
  private func found(_ address: RemoteAddress, _ text: String) throws -> [RemoteFile] {
    do {
      let answer = try send(ObjectCall(address: address, text: text, purpose: .find, range: 0..<1))
      guard let size = answer.wholeSize else { throw StorageError(text, .unexpected("no file size")) }
      return [RemoteFile(address: text, size: size, tag: answer.strongTag, storage: self)]
    } catch let error as StorageError {
      guard case .refused(404, let code, nil) = error.cause, code != "NoSuchBucket" else { throw error }
      return []
    }
  }

  /// Returns an entity tag with the quotes that some services omit; nil for an empty or weak tag, which does
  /// not prove that all bytes are equal.
  fileprivate static func tag(_ text: String) -> String? {
    if text.isEmpty || text == "\"\"" || text.hasPrefix("W/") { return nil }
    return text.hasPrefix("\"") ? text : "\"\(text)\""
  }

  // MARK: - Reading

  package func reader(of file: RemoteFile) -> any RemoteReader { ObjectReader(file, self) }

  /// Returns a range of a file; throws if the file has changed since it was found.
  ///
  /// If a response breaks off, the next request continues at the first missing byte.
  ///
  /// - Throws: also if it was cancelled.
  func bytes(_ range: Range<UInt64>, of file: RemoteFile, _ cancellation: HTTPCancellation) throws -> [UInt8] {
    guard let address = RemoteAddress(file.address) else { preconditionFailure("a remote file without an address") }
    var bytes: [UInt8] = []
    while bytes.count < range.count {
      let left = range.lowerBound + UInt64(bytes.count)..<range.upperBound
      let call = ObjectCall(
        address: address, text: file.address, range: left, file: file, cancellation: cancellation)
      let body = try send(call).body
      if body.isEmpty { throw StorageError(file.address, .changed) }
      // Some servers send more than the range, or the whole file.
      bytes = bytes.isEmpty && body.count <= left.count ? body : bytes + body.prefix(left.count)
    }
    return bytes
  }

  // MARK: - Writing

  package func writer(
    of address: String, if condition: RemoteCondition?, check: @escaping () throws -> Void
  ) throws -> any RemoteWriter {
    guard let place = RemoteAddress(address), place.isBucket else {
      throw StorageError(address, .address("only s3:// addresses can be written to"))
    }
    let isName = !place.key.isEmpty && !place.key.hasSuffix("/") && !place.key.contains { $0 == "*" || $0 == "?" }
    if let problem = place.problem ?? (isName ? nil : "does not name one object") {
      throw StorageError(address, .address(problem))
    }
    return ObjectWriter(place, address, condition, check, self)
  }

  // MARK: - Requests

  /// Sends a request until it succeeds or returns part of the range. Repetitions do not change its effect;
  /// but after a lost response, a condition may no longer hold, or an upload may already have ended.
  func send(_ call: ObjectCall) throws -> HTTPAnswer {
    let session = try session()
    var random = SystemRandomNumberGenerator()
    var refused: StorageCredentials?
    var isLost = false
    for attempt in 1... {
      let credentials = try credentials(for: call.address, session.source, insteadOf: refused, call.text)
      let request = try request(call, signedBy: credentials, session.region)
      let cause: StorageError.Cause
      var isTemporary = true
      var outcome = session.client.send(request, cancellation: call.cancellation)
      // The service begins its response to a completed upload before it knows the result.
      if case .answer(var answer) = outcome, answer.status == 200, call.method == .post, answer.error != nil {
        answer.status = 500
        outcome = .answer(answer)
      }
      switch outcome {
      case .answer(let answer) where (200..<300).contains(answer.status):
        try check(answer, call)
        return answer
      case .noAnswer(let fault):
        // Part of a range is as useful as a shorter range.
        if let part = fault.partial, part.status == 206, !part.body.isEmpty, call.file != nil, fault.kind != .cancelled
        {
          try check(part, call)
          try spend(StorageError(call.text, .unreachable(request.address.host, fault)))
          return part
        }
        if fault.kind == .tooLarge, call.range != nil { throw StorageError(call.text, .noRanges) }
        isLost = true
        cause = .unreachable(request.address.host, fault)
      case .notSent(let fault):
        isTemporary = fault.mayBeTheRequest || fault.kind == .connect || fault.kind == .resolve
        cause = .unreachable(request.address.host, fault)
      case .answer(let answer):
        if answer.status == 416, answer.wholeSize == 0, call.range != nil, call.file == nil { return answer }
        if answer.status == 412 || answer.status == 416, call.file != nil { throw StorageError(call.text, .changed) }
        let error = answer.error
        let code = (error?.first("Code")?.text ?? "").filter { $0.isASCII && $0.isLetter }
        let isRefused = answer.status == 412 || code == "ConditionalRequestConflict"
        if isLost, isRefused || code == "NoSuchUpload" { throw StorageError(call.text, .lost) }
        if isRefused { throw RemoteConflict(address: call.text) }
        let hint = error?.first("Region")?.text ?? answer.fields["x-amz-bucket-region"]
        let other = hint.map { $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } }
        cause = .refused(status: answer.status, code: code, region: other == session.region ? nil : other)
        let renews = StorageError.isExpired(code) && refused == nil && credentials?.expires != nil
        if renews { refused = credentials }
        isTemporary = answer.status >= 500 || answer.status == 429 || code == "RequestTimeout" || renews
      }
      let error = StorageError(call.text, cause, call.purpose)
      guard isTemporary, attempt < call.attempts, call.cancellation?.isCancelled != true else { throw error }
      try call.check()
      try spend(error)
      if attempt == 3 { retryNote.withLock { $0.take() }?(error.retryNote) }
      usleep(UInt32(clamping: backoff.pause(before: attempt, using: &random).count * 1000))
    }
    preconditionFailure("the attempts of a request never end")
  }

  private func spend(_ error: StorageError) throws {
    let isLeft = budget.withLock { left in
      left -= 1
      return left >= 0
    }
    guard isLeft else { throw error }
  }

  /// Refuses a response with a different range, or from a file that has changed since it was found.
  private func check(_ answer: HTTPAnswer, _ call: ObjectCall) throws {
    guard let range = call.range, let file = call.file else { return }
    if let tag = file.tag, answer.fields["etag"] != nil, tag != answer.strongTag {
      throw StorageError(file.address, .changed)
    }
    guard answer.wholeSize == file.size else { throw StorageError(file.address, .changed) }
    if answer.status == 200 {
      guard range.lowerBound == 0 else { throw StorageError(file.address, .noRanges) }
    } else if answer.rangeStart != range.lowerBound {
      throw StorageError(file.address, .unexpected("a different part of the file than the one requested"))
    }
  }

  private func session() throws -> Session {
    try opened.withLock { opened in
      if let opened { return opened }
      let given = settings.region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"]
      let region = given ?? AWSProfile(environment)["region"] ?? "us-east-1"
      let session = Session(
        client: HTTPClient(try http()), region: region,
        source: CredentialSource(environment: environment, region: region, http: http))
      opened = session
      return session
    }
  }

  private func credentials(
    for address: RemoteAddress, _ source: CredentialSource, insteadOf refused: StorageCredentials?, _ text: String
  ) throws -> StorageCredentials? {
    guard address.isBucket, !settings.isAnonymous else { return nil }
    do {
      return try source.credentials(insteadOf: refused)
    } catch let problem as CredentialSource.Problem {
      throw StorageError(text, .credentials(problem.words))
    }
  }

  private func request(
    _ call: ObjectCall, signedBy credentials: StorageCredentials?, _ region: String
  ) throws -> HTTPRequest {
    var (service, path) = try place(of: call.address, call.isOfBucket ? "" : call.address.key, in: region, call.text)
    var headers = call.headers
    if let range = call.range { headers.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")) }
    if let tag = call.file?.tag { headers.append(("If-Match", tag)) }
    let query = call.query.map { ($0, RequestSignature.encoded($1)) }
    if call.address.isBucket {
      let hash = Hexadecimal.text(of: SHA256.hash(call.body))
      headers.append(("x-amz-content-sha256", hash))
      if settings.requesterPays { headers.append(("x-amz-request-payer", "requester")) }
      if let credentials {
        let time = Instant.now.basicText
        headers.append(("x-amz-date", time))
        if let token = credentials.token { headers.append(("x-amz-security-token", token.reveal())) }
        let host = service.host + (service.port.map { ":\($0)" } ?? "")
        let proof = RequestSignature(region: region, service: "s3", credentials: credentials).authorization(
          call.method.rawValue, path: service.path + path, query: query, headers: headers + [("host", host)],
          bodyHash: hash, time: time)
        headers.append(("Authorization", proof))
      }
    }
    if !query.isEmpty { path += "?" + RequestSignature.text(of: query) }
    var request = HTTPRequest(
      call.method, service, path, headers: headers.map { HTTPRequest.Header($0, $1) }, body: call.body)
    request.answerLimit = call.range.map { max($0.count, 1 << 20) + (1 << 16) } ?? 16 << 20
    request.keepsPartialAnswer = true
    return request
  }

  /// Returns the service for an address, and the path of the request.
  func place(of address: RemoteAddress, _ key: String, in region: String, _ text: String) throws -> (
    ServiceAddress, String
  ) {
    do throws(ServiceAddress.Fault) {
      guard address.isBucket else {
        // Percent-escapes in a URL are kept.
        let path = key.isEmpty ? "/" : RequestSignature.encoded(key, keeping: "/%")
        return (try ServiceAddress("\(address.scheme)://\(address.host)"), path)
      }
      let path = "/" + RequestSignature.encoded(key, keeping: "/")
      let endpoint = settings.endpoint ?? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"]
      let service = try ServiceAddress(endpoint ?? "https://s3.\(region).amazonaws.com")
      // A wildcard certificate covers one label below the service's name; an IP address has no subdomains.
      if settings.usesPaths || address.host.contains(".") || LoopbackHost.contains(service.host) {
        return (service, "/\(address.host)\(path)")
      }
      let port = service.port.map { ":\($0)" } ?? ""
      return (
        try ServiceAddress("\(service.scheme.rawValue)://\(address.host).\(service.host)\(port)\(service.path)"), path
      )
    } catch {
      throw StorageError(text, .address("\(error)"))
    }
  }
}

/// A request for one object or bucket.
struct ObjectCall {
  var method = HTTPRequest.Method.get
  var address: RemoteAddress
  /// The address in messages.
  var text: String
  /// Whether it is about the bucket rather than the object.
  var isOfBucket = false
  var query: [(String, String)] = []
  var headers: [(String, String)] = []
  var body: [UInt8] = []
  var purpose = StorageError.Purpose.read
  /// The range to read; nil for other requests.
  var range: Range<UInt64>?
  /// The object whose bytes are read; nil until it is found.
  var file: RemoteFile?
  var attempts = 8
  var cancellation: HTTPCancellation?
  /// Called before each repetition; may throw to stop.
  var check: () throws -> Void = {}
}

extension HTTPAnswer {
  /// The service's error; nil if the body is not an error document.
  fileprivate var error: XMLElement? { document().flatMap { $0.isNamed("Error") ? $0 : nil } }

  /// Returns the XML document in the body; nil if there is none.
  func document(_ limits: XMLLimits = .answer) -> XMLElement? {
    // Every invalid document has the same remedy.
    try? XMLDocument.parse(body, limits: limits)
  }

  /// The size of the whole file; nil if unknown.
  fileprivate var wholeSize: UInt64? {
    if status == 200 { return UInt64(body.count) }
    return fields["content-range"].flatMap { $0.split(separator: "/").last }.flatMap { UInt64($0) }
  }

  /// The offset of the first byte in the whole file; nil if unknown.
  fileprivate var rangeStart: UInt64? {
    fields["content-range"].flatMap { $0.split(separator: " ").last?.split(separator: "-").first }
      .flatMap { UInt64($0) }
  }

  /// The entity tag; nil if there is none, or if it does not prove that all bytes are equal.
  fileprivate var strongTag: String? { fields["etag"].flatMap(ObjectStorage.tag) }
}
