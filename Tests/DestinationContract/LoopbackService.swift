package import BatchDelivery
import BatchFoundation
import BatchWire
import LoopbackServer

extension DestinationContract.Service {
  /// A service on a loopback port that keeps the bodies it takes; its first three requests meet the trouble.
  ///
  /// - Parameters:
  ///   - isToken: requests that ask for a token rather than bring events.
  ///   - destination: for the port.
  package static func loopback(
    _ trouble: DestinationContract.Trouble, isToken: @escaping @Sendable (_ head: String) -> Bool = { _ in false },
    _ destination: (_ port: Int) throws -> any Destination
  ) throws -> DestinationContract.Service {
    struct State {
      var requests = 0
      var taken: [String] = []
    }
    let state = Guarded(State())
    let server = try LoopbackServer { connection in
      while let (head, body) = connection.readRequest() {
        if isToken(head) {
          connection.answer(200, [], #"{"access_token":"T","expires_in":14400}"#)
          continue
        }
        let meets = state.withLock { state in
          state.requests += 1
          let meets = state.requests <= 3 ? trouble : .none
          if meets != .unavailable, meets != .answersCut { state.taken.append(String(decoding: body, as: UTF8.self)) }
          return meets
        }
        switch meets {
        case .none: connection.answer(200, ["Content-Type: application/json"], "{}")
        case .unavailable: connection.answer(503)
        case .answersLost:
          connection.reset()
          return
        case .answersCut:
          connection.send("HTTP/1.1 201 Created\r\nContent-Le")
          return
        }
      }
    }
    return DestinationContract.Service(
      try destination(server.port),
      arrivals: {
        // The server lives as long as this does.
        withExtendedLifetime(server) { state.withLock { $0.taken } }
      })
  }
}
