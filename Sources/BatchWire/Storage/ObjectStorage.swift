package import BatchFoundation
import Glibc

/// How a storage service is reached; the job's `Storage` settings.
package struct StorageSettings: Sendable, Hashable {
  /// The URL of the service; nil for that of AWS in the region.
  package var endpoint: String?
  /// Nil for `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's region, or `us-east-1`.
  package var region: String?
  /// Whether the bucket is the first part of the path rather than of the host.
  package var usesPaths = false
  package var isAnonymous = false
  package var requesterPays = false

  package init() {}
}

/// Buckets of an S3 service, and files of web servers. One attempt is one request; reads are repeated, because they change nothing.
package final class ObjectStorage: RemoteStorage {
  /// The state of requests, which jobs without addresses never create: it reads the files of AWS profiles.
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
  /// The attempts of a request that brought nothing.
  private static let attempts = 8

  /// - Parameters:
  ///   - environment: the variables with credentials.
  ///   - budget: the number of repeated requests of the run.
  ///   - http: called before the first request.
  package init(
    _ settings: StorageSettings, environment: [String: String], backoff: Backoff, budget: Int,
    http: @escaping @Sendable () throws -> HTTPSettings
  ) {
    (self.settings, self.environment, self.backoff, self.http) = (settings, environment, backoff, http)
    self.budget = Guarded(budget)
  }

  // MARK: - Finding

  package func files(for pattern: RemoteAddress, _ text: String) throws -> [RemoteFile] {
    let isPattern = pattern.key.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
    guard pattern.isBucket else { return try found(pattern, text) }
    do {
      return try list(pattern, String(pattern.key.prefix { $0 != "*" && $0 != "?" }), text)
    } catch let listing as StorageError where listing.isDenied && !isPattern && !pattern.key.isEmpty {
      // Reading may be allowed where listing is not.
      do { return try found(pattern, text) } catch let reading as StorageError where reading.isDenied { throw listing }
    }
  }

  /// Lists the objects whose keys begin with the prefix, page by page.
  private func list(_ bucket: RemoteAddress, _ prefix: String, _ text: String) throws -> [RemoteFile] {
    var files: [RemoteFile] = []
    var token: String?
    repeat {
      var query = [("list-type", "2"), ("encoding-type", "url"), ("prefix", prefix)]
      if let token { query.append(("continuation-token", token)) }
      let answer = try get(bucket, key: "", query, text, isListing: true)
      // The reason why it is no XML does not change the remedy.
      guard let page = try? XMLDocument.parse(answer.body, limits: .file), page.isNamed("ListBucketResult") else {
        throw StorageError(text, .unexpected("something other than a list of objects"), isListing: true)
      }
      let isEncoded = page.first("EncodingType")?.text == "url"
      for entry in page.all("Contents") {
        guard let written = entry.first("Key")?.text, let size = entry.first("Size").flatMap({ UInt64($0.text) })
        else { throw StorageError(text, .unexpected("an object without a key or size"), isListing: true) }
        let decoded = isEncoded ? PercentEncoding.decodedForm(written.utf8) : nil
        let key = decoded.map { String(decoding: $0, as: UTF8.self) } ?? written
        if key.utf8.last == UInt8(ascii: "/") { continue }
        files.append(
          RemoteFile(
            address: "s3://\(bucket.host)/\(key)", size: size, tag: entry.first("ETag").map { Self.quoted($0.text) },
            storage: self))
      }
      let next = page.first("IsTruncated")?.text == "true" ? page.first("NextContinuationToken")?.text : nil
      guard next == nil || next != token else {
        throw StorageError(text, .unexpected("the same page of a list again"), isListing: true)
      }
      token = next
    } while token != nil
    return files
  }

  /// Returns an object or file by reading its first byte; none if it does not exist.
  private func found(_ address: RemoteAddress, _ text: String) throws -> [RemoteFile] {
    do {
      let answer = try get(address, key: address.key, [], text, range: 0..<1)
      guard let size = answer.wholeSize else { throw StorageError(text, .unexpected("no file size")) }
      return [RemoteFile(address: text, size: size, tag: answer.strongTag, storage: self)]
    } catch let error as StorageError {
      guard case .refused(404, let code, nil) = error.cause, code != "NoSuchBucket" else { throw error }
      return []
    }
  }

  /// Some services leave the quotes out of their lists.
  private static func quoted(_ tag: String) -> String { tag.hasPrefix("\"") ? tag : "\"\(tag)\"" }

  // MARK: - Reading

  package func reader(of file: RemoteFile) -> any RemoteReader { ObjectReader(file, self) }

  /// Returns a range of a file, if it is still the file that was found.
  ///
  /// After a cut, the request continues at the first byte that did not arrive.
  ///
  /// - Parameter isStopped: whether to give up before the next attempt.
  func bytes(_ range: Range<UInt64>, of file: RemoteFile, isStopped: () -> Bool) throws -> [UInt8] {
    guard let address = RemoteAddress(file.address) else { preconditionFailure("a remote file without an address") }
    var bytes: [UInt8] = []
    while bytes.count < range.count, !isStopped() {
      let left = range.lowerBound + UInt64(bytes.count)..<range.upperBound
      let answer = try get(address, key: address.key, [], file.address, range: left, tag: file.tag, of: file)
      // Some servers send more than the range, or the whole file.
      bytes += answer.body.prefix(left.count)
      if answer.body.isEmpty { throw StorageError(file.address, .changed) }
    }
    return bytes
  }

  /// Sends a request until it succeeds, or brings a part of the range.
  private func get(
    _ address: RemoteAddress, key: String, _ query: [(String, String)], _ text: String, isListing: Bool = false,
    range: Range<UInt64>? = nil, tag: String? = nil, of file: RemoteFile? = nil
  ) throws -> HTTPAnswer {
    let session = try session()
    var random = SystemRandomNumberGenerator()
    var refused: StorageCredentials?
    for attempt in 1... {
      let credentials = try credentials(for: address, session.source, insteadOf: refused, text)
      let request = try request(
        address, key, query, text, range: range, tag: tag, signedBy: credentials, session.region, isListing: isListing)
      let cause: StorageError.Cause
      var isForNow = true
      switch session.client.send(request) {
      case .answer(let answer) where answer.status == 200 || answer.status == 206:
        try check(answer, range, of: file)
        return answer
      case .noAnswer(let fault):
        // A part of the range is as good as a shorter range.
        if let part = fault.partial, part.status == 206, !part.body.isEmpty, let file {
          try check(part, range, of: file)
          try spend(StorageError(text, .unreachable("\(fault)")))
          return part
        }
        if fault.kind == .tooLarge, range != nil { throw StorageError(text, .noRanges) }
        cause = .unreachable("\(fault)")
      case .notSent(let fault):
        isForNow = fault.mayBeTheRequest || fault.kind == .connect || fault.kind == .resolve
        cause = .unreachable("\(fault)")
      case .answer(let answer):
        if answer.status == 416, answer.wholeSize == 0, file == nil { return answer }
        if answer.status == 412 || answer.status == 416, file != nil { throw StorageError(text, .changed) }
        // The reason why it is no XML does not matter: the status counts.
        let document = try? XMLDocument.parse(answer.body)
        let error = document?.isNamed("Error") == true ? document : nil
        let code = (error?.first("Code")?.text ?? "").filter { $0.isASCII && $0.isLetter }
        let hint = error?.first("Region")?.text ?? answer.fields["x-amz-bucket-region"]
        let other = hint.map { $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } }
        cause = .refused(status: answer.status, code: code, region: other == session.region ? nil : other)
        let renews = StorageError.isExpired(code) && refused == nil && credentials?.expires != nil
        if renews { refused = credentials }
        isForNow = answer.status >= 500 || answer.status == 429 || code == "RequestTimeout" || renews
      }
      let error = StorageError(text, cause, isListing: isListing)
      guard isForNow, attempt < Self.attempts else { throw error }
      try spend(error)
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

  /// Refuses bytes of another file than the one that was found, and of another range.
  private func check(_ answer: HTTPAnswer, _ range: Range<UInt64>?, of file: RemoteFile?) throws {
    guard let range, let file else { return }
    if let tag = file.tag, let other = answer.fields["etag"], tag != other {
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
      let variables = ["AWS_REGION", "AWS_DEFAULT_REGION"].compactMap { environment[$0] }.first { !$0.isEmpty }
      let region = settings.region ?? variables ?? AWSProfile(environment)["region"] ?? "us-east-1"
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

  // MARK: - Requests

  /// The hash of an empty body.
  private static let noBody = Hexadecimal.text(of: SHA256.hash([]))

  private func request(
    _ address: RemoteAddress, _ key: String, _ query: [(String, String)], _ text: String, range: Range<UInt64>?,
    tag: String?, signedBy credentials: StorageCredentials?, _ region: String, isListing: Bool
  ) throws -> HTTPRequest {
    var (service, path) = try place(of: address, key, in: region, text)
    var headers: [(String, String)] = []
    if let range { headers.append(("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")) }
    if let tag { headers.append(("If-Match", tag)) }
    let query = query.map { ($0, RequestSignature.encoded($1)) }
    if address.isBucket {
      headers.append(("x-amz-content-sha256", Self.noBody))
      if settings.requesterPays { headers.append(("x-amz-request-payer", "requester")) }
      if let credentials {
        let time = Instant.now.basicText
        headers.append(("x-amz-date", time))
        if let token = credentials.token { headers.append(("x-amz-security-token", token.reveal())) }
        let host = service.host + (service.port.map { ":\($0)" } ?? "")
        headers.append(
          (
            "Authorization",
            RequestSignature(region: region, service: "s3", credentials: credentials).authorization(
              "GET", path: service.path + path, query: query, headers: headers + [("host", host)],
              bodyHash: Self.noBody,
              time: time)
          ))
      }
    }
    if !query.isEmpty { path += "?" + RequestSignature.text(of: query) }
    var request = HTTPRequest(.get, service, path, headers: headers.map { HTTPRequest.Header($0, $1) })
    request.answerLimit = isListing ? 16 << 20 : max(range.map { $0.count } ?? 0, 1 << 20) + (1 << 16)
    request.keepsPartialAnswer = true
    return request
  }

  /// Returns the service of an address, and the path of the request there.
  func place(of address: RemoteAddress, _ key: String, in region: String, _ text: String) throws -> (
    ServiceAddress, String
  ) {
    do throws(ServiceAddress.Fault) {
      guard address.isBucket else {
        // Percent-escapes in a URL are kept.
        return (
          try ServiceAddress("\(address.scheme)://\(address.host)"),
          key.isEmpty
            ? "/"
            : key.split(separator: "%", omittingEmptySubsequences: false)
              .map { RequestSignature.encoded(String($0), keeping: "/") }.joined(separator: "%")
        )
      }
      let path = "/" + RequestSignature.encoded(key, keeping: "/")
      let service = try ServiceAddress(settings.endpoint ?? "https://s3.\(region).amazonaws.com")
      // A certificate covers one name below the service's; an IP address has no names below it.
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

extension HTTPAnswer {
  /// The size of the whole file of which this is a part; nil if unknown.
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
  fileprivate var strongTag: String? { fields["etag"].flatMap { $0.hasPrefix("W/") ? nil : $0 } }
}
