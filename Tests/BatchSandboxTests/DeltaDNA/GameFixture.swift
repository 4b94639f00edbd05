import BatchFoundation
import BatchWire
import TestSupport
import Testing

@testable import BatchSandbox

/// A sandbox with deltaDNA's endpoints only, and a client that says what it likes.
final class Fixture {
  let server: SandboxServer
  private let http = HTTPClient(.test())
  private let address: ServiceAddress

  init(_ settings: SandboxSettings = SandboxSettings(), _ change: (inout DeltaDNASandboxOptions) -> Void = { _ in })
    throws
  {
    var options = DeltaDNASandboxOptions()
    change(&options)
    server = try SandboxServer.start(settings, [DeltaDNAEndpoints(options)])
    address = try ServiceAddress(server.baseURL)
  }

  deinit {
    // The port goes with the process in any case.
    try? server.stop()
  }

  /// Status and body of an answer.
  @discardableResult
  func send(
    _ method: HTTPRequest.Method, _ path: String, _ body: String = "", type: String = "application/json"
  ) throws -> (status: Int, body: String) {
    let request = HTTPRequest(method, address, path, headers: [.init("Content-Type", type)], body: Array(body.utf8))
    guard case .answer(let answer) = http.send(request) else {
      Issue.record("no answer")
      return (0, "")
    }
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  var state: JSONNode? {
    get throws { try JSONNode.parse(Array(send(.get, "/sandbox/state").body.utf8))["deltadna"] }
  }

  /// Verdicts in the order of arrival, with their reasons as `id path`.
  var verdicts: [String] {
    get throws {
      (try state?["events"]?.array ?? []).map { event in
        let reasons = (event["reasons"]?.array ?? []).map {
          "\($0["id"]?.string ?? "") \($0["path"]?.string ?? "")"
        }
        return ([event["verdict"]?.string ?? ""] + reasons).joined(separator: ", ")
      }
    }
  }
}

/// An event of the day on which the sandbox's clock starts.
func gameEvent(
  _ name: String = "levelUp", uuid: Int = 1, time: String = "2026-01-31 09:00:00.000",
  params: String = #"{"platform":"IOS","sdkVersion":"engage-batch"}"#
) -> String {
  let digits = String(uuid)
  let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.utf8.count) + digits
  return
    #"{"eventName":"\#(name)","userID":"p-1","sessionID":"s-1","eventUUID":"\#(id)","eventTimestamp":"\#(time)","eventParams":\#(params)}"#
}

func list(_ events: [String]) -> String { "{\"eventList\":[\(events.joined(separator: ","))]}" }
