import BatchHTTP
import Synchronization

/// The token call on the wire.
final class TokenGate: Sendable {
  private let template: HTTPRequest
  private let http: HTTPClient
  private let wallClock: @Sendable () -> Double
  private let count = Atomic(0)

  init(
    address: ServiceAddress, path: String, body: [UInt8], http: HTTPClient, wallClock: @escaping @Sendable () -> Double
  ) {
    template = HTTPRequest(
      .post, address, path,
      headers: [.init("Content-Type", "application/x-www-form-urlencoded"), .init("Accept", "application/json")],
      body: body)
    self.http = http
    self.wallClock = wallClock
  }

  /// Token calls that reached the wire.
  var requests: Int { count.load(ordering: .relaxed) }

  func request(_ cancellation: HTTPCancellation?) -> Result<TokenAnswer.Grant, TokenFailure> {
    switch http.send(template, cancellation: cancellation) {
    case .answer(let answer):
      count.add(1, ordering: .relaxed)
      return TokenAnswer.read(answer, now: Int64(wallClock()))
    case .notSent(let fault): return .failure(.transport(fault))
    case .noAnswer(let fault):
      count.add(1, ordering: .relaxed)
      return .failure(.transport(fault))
    }
  }
}
