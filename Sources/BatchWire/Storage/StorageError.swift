package import BatchFoundation

/// The error for a request that a storage service refused or did not answer, with the remedy. It shows the
/// service's codes but not its texts, which may quote the request.
package struct StorageError: RunError, InputFailure, Equatable, CustomStringConvertible {
  package enum Cause: Equatable, Sendable {
    /// Credentials are missing or unusable, for this reason.
    case credentials(String)
    case refused(status: Int, code: String, region: String?)
    /// A host gave no complete response in any attempt.
    case unreachable(String, HTTPFault)
    /// The object's tag or size has changed since it was found.
    case changed
    /// The response violates the protocol; the value names what the service sent.
    case unexpected(String)
    /// The server ignores `Range`, and the file is too large for one response.
    case noRanges
    /// The response to a write was lost, and a repetition cannot show whether the write succeeded.
    case lost
    case address(String)
  }

  /// `find` reads an object that may not be listed.
  package enum Purpose: Sendable { case list, find, read, write }

  /// The address in the job.
  package var address: String
  package var cause: Cause
  package var purpose = Purpose.read

  package init(_ address: String, _ cause: Cause, _ purpose: Purpose = .read) {
    (self.address, self.cause, self.purpose) = (address, cause, purpose)
  }

  package var exit: RunExit {
    switch cause {
    case .credentials: .credentialsRefused
    case .unreachable: .serviceUnavailable
    case .changed, .unexpected: .inputOutput
    case .noRanges, .address: .configuration
    case .lost: .cannotWrite
    case .refused(let status, let code, let region):
      switch code {
      case _ where region != nil: .configuration
      case _ where Self.isOfCredentials(code): .credentialsRefused
      case _ where purpose == .write && (status == 404 || status == 400): .cannotWrite
      case "NoSuchKey", "NoSuchBucket", "InvalidObjectState": .noInput
      case _ where status == 404: .noInput
      case _ where status == 401 || status == 403: .credentialsRefused
      case _ where status >= 500 || status == 429: .serviceUnavailable
      default: .inputOutput
      }
    }
  }

  /// Whether the service answered 403: a missing permission or invalid credentials.
  var isDenied: Bool { if case .refused(403, _, nil) = cause { true } else { false } }

  package static func isExpired(_ code: String) -> Bool { code == "ExpiredToken" || code == "TokenRefreshRequired" }

  /// Whether the credentials are invalid; some services report this with 400.
  private static func isOfCredentials(_ code: String) -> Bool {
    isExpired(code)
      || ["InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "InvalidClientTokenId"].contains(code)
  }

  package var description: String { "\(address.printable): error: \(words)" }

  /// The warning shown when the request is sent again.
  var retryNote: String {
    let problem =
      switch cause {
      case .unreachable(let host, let fault): "\(host.printable) did not answer (\(fault))"
      case .refused(let status, let code, _): "the service answered \(Self.shown(status, code))"
      default: words
      }
    return "\(address.printable): warning: \(problem); trying again"
  }

  private static func shown(_ status: Int, _ code: String) -> String {
    code.isEmpty ? "\(status)" : "\(status) \(code)"
  }

  private var words: String {
    switch cause {
    case .credentials(let problem):
      "no usable credentials: \(problem). Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for a public bucket, set Storage.anonymous"
    case .unreachable(let host, let fault): "\(host.printable) did not answer (\(fault)); \(Self.remedy(fault))"
    case .changed:
      "the object was replaced while the run read it; the run imported no records. Run the job again when the object is complete"
    case .unexpected(let what): "the storage service sent \(what); check the address and Storage.endpoint"
    case .noRanges:
      "the server does not send parts of a file (Range), and the file is too large for one response; copy it to a local disk"
    case .lost:
      "the response was lost, so it is unknown whether the object was written; check the object before trying again"
    case .address(let problem): problem
    case .refused(let status, let code, let region): Self.words(status, code, region, purpose)
    }
  }

  private static func remedy(_ fault: HTTPFault) -> String {
    switch fault.kind {
    case .tls: "check its certificate, or name a file with its authority in Connection.caFile"
    case .authorities: "name a readable file of trusted certificates in Connection.caFile"
    case .resolve, .connect: "check the address and Storage.endpoint, and run the job again"
    default: "run the job again"
    }
  }

  private static func words(_ status: Int, _ code: String, _ region: String?, _ purpose: Purpose) -> String {
    let shown = shown(status, code)
    if let region { return "the bucket is in the region \(region) (\(shown)); set Storage.region to '\(region)'" }
    switch code {
    case "NoSuchBucket": return "there is no such bucket; check the name and Storage.endpoint"
    case "NoSuchKey": return "there is no such object; it may have been deleted"
    case "RequestTimeTooSkewed":
      return "the clock of this machine differs from the service's by more than 15 minutes (\(shown)); correct it"
    case "ExpiredToken", "TokenRefreshRequired":
      return "the session token has expired (\(shown)); get new credentials and run the job again"
    case _ where isOfCredentials(code):
      return
        "the service does not accept the credentials (\(shown)); check the access key, its secret and the session token"
    case "InvalidObjectState":
      return "the object is archived (\(shown)); restore it (aws s3api restore-object) and run the job again"
    case "SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout":
      return "the service failed at every attempt (\(shown)); run the job again later"
    default: break
    }
    switch (status, purpose) {
    case (401, .write), (403, .write):
      return "writing is denied (\(shown)); allow s3:PutObject and s3:AbortMultipartUpload"
    case (401, .list), (403, .list):
      return "listing is denied (\(shown)); allow s3:ListBucket on the bucket, or name single objects without wildcards"
    case (401, .find), (403, .find):
      return
        "reading is denied (\(shown)), or there is no such object; allow s3:GetObject on it; without s3:ListBucket on the bucket, a missing object is also reported as denied"
    case (401, .read), (403, .read):
      return
        "reading is denied (\(shown)); allow s3:GetObject, or set Storage.requesterPays if the bucket's readers pay"
    case (404, _): return "there is no file at this address (\(shown)); check it"
    default: return "the service refused the request (\(shown))"
    }
  }
}
