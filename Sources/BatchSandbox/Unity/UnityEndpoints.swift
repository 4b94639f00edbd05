package import BatchFoundation

extension SandboxEndpoint {
  /// `POST /api/analytics/collect/v1/projects/{projectId}/environments/{environmentName}`
  package static let unityCollect = SandboxEndpoint(rawValue: "unityCollect")
  /// `GET /api/analytics/collect/v1/uuid`
  package static let unityUser = SandboxEndpoint(rawValue: "unityUser")

  package static let unity: [SandboxEndpoint] = [.unityCollect, .unityUser]
}

/// A local Collect API of Unity Analytics, which judges events as deltaDNA's does (reference unity 3).
package final class UnityEndpoints: GameEndpoints {
  package static let member = "unity"

  private static let root = "/api/analytics/collect/v1/"

  /// The service's documented limits (reference unity 4), plus a millisecond: the service includes both ends of the
  /// window, whereas ``EventJudge`` excludes them.
  package static let defaults: DeltaDNASandboxOptions = {
    var options = DeltaDNASandboxOptions()
    options.oldestEvent = Milliseconds(31 * 86_400_000 + 1)
    options.furthestAhead = Milliseconds(24 * 3_600_000 + 1)
    return options
  }()

  package let options: DeltaDNASandboxOptions
  package let state: Guarded<GameState>

  /// - Parameter options: the options shared with deltaDNA: times, sizes, schema.
  package init(_ options: DeltaDNASandboxOptions = UnityEndpoints.defaults) {
    self.options = options
    state = Guarded(GameState(options))
  }

  package func endpoint(of path: String) -> SandboxEndpoint? {
    guard path.utf8.starts(with: Self.root.utf8) else { return nil }
    return path.utf8.dropFirst(Self.root.utf8.count).elementsEqual("uuid".utf8) ? .unityUser : .unityCollect
  }

  package func reply(to request: SandboxRequest, _ state: inout GameState) -> SandboxReply {
    if endpoint(of: request.path) == .unityUser {
      guard request.method == "GET" else { return .refused(.text(405, "Only GET is allowed here")) }
      let id = "00000000-0000-4000-8000-\(Hexadecimal.text(of: UInt64(request.sequence)).suffix(12))"
      return .done(.json(200, "{\"userID\":\"\(id)\"}"))
    }
    let parts = request.path.dropFirst(Self.root.count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "projects", parts[2] == "environments", !parts[1].isEmpty, !parts[3].isEmpty
    else { return .refused(.text(404, "There is nothing at this address")) }
    guard request.method == "POST" else { return .refused(.text(405, "Only POST is allowed here")) }
    return unsafe request.withBody { body in
      guard body.count < options.largestBody else {
        return .refused(
          .text(413, "The request is \(body.count) bytes long; fewer than \(options.largestBody) are allowed"))
      }
      return unsafe judge(body, of: request, &state)
    }
  }
}
