package import BatchFoundation
import BatchWire

/// A local Collect and a local Engage of deltaDNA (reference deltadna-service 3.7, 4.2).
package final class DeltaDNAEndpoints: GameEndpoints {
  package static let member = "deltadna"

  package let options: DeltaDNASandboxOptions
  package let state: Guarded<GameState>

  package init(_ options: DeltaDNASandboxOptions = DeltaDNASandboxOptions()) {
    self.options = options
    state = Guarded(GameState(options))
  }

  package func endpoint(of path: String) -> SandboxEndpoint? { DeltaDNAPath(path)?.endpoint }

  package func reply(to request: SandboxRequest, _ state: inout GameState) -> SandboxReply {
    guard let path = DeltaDNAPath(request.path), !path.isUnknown else {
      return .refused(.text(404, "There is nothing at this address"))
    }
    if path.endpoint == .collectUser {
      guard request.method == "GET" else { return .refused(.text(405, "Only GET is allowed here")) }
      return .done(.json(200, "{\"userID\":\"\(newUser(&state))\"}"))
    }
    guard request.method == "POST" else { return .refused(.text(405, "Only POST is allowed here")) }
    if let keys = options.environmentKeys, !keys.contains(ByteText(path.key)) {
      return .refused(.text(404, "Unknown environment key"))
    }
    return unsafe request.withBody { body in
      guard body.count <= options.largestBody else {
        return .refused(
          .text(413, "The request is \(body.count) bytes long; at most \(options.largestBody) are allowed"))
      }
      if let refusal = unsafe hashRefusal(path, body) { return refusal }
      var reply =
        unsafe path.endpoint == .collect
        ? judge(body, isBulk: path.isBulk, of: request, &state) : decide(body, &state)
      if !Self.isJSON(request.contentType) { reply.added.violation("content-type") }
      return reply
    }
  }

  private static func isJSON(_ type: String) -> Bool {
    type.split(separator: ";", maxSplits: 1).first?.lowercased() == "application/json"
  }

  private func hashRefusal(_ path: DeltaDNAPath, _ body: UnsafeRawBufferPointer) -> SandboxReply? {
    guard let secret = options.hashSecret else { return nil }
    // The response must not contain the correct hash, because anyone could then send this body.
    guard let given = path.hash else { return .refused(.text(403, "The URL contains no hash")) }
    guard unsafe BodyHash(of: Array(body), secret: secret).matches(given) else {
      return .refused(.text(403, "The hash does not match the body of \(body.count) bytes"))
    }
    return nil
  }

  /// Returns a user id formatted like an iPhone's. The sequence of ids depends only on the seed.
  private func newUser(_ state: inout GameState) -> String {
    state.users += 1
    let one = SplitMix64.mix(options.seed &+ state.users &* SplitMix64.step)
    let digits = Array((Hexadecimal.text(of: one) + Hexadecimal.text(of: SplitMix64.mix(one))).uppercased().utf8)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
    return parts.joined(separator: "-")
  }

  // MARK: - Engage

  /// Above 2^53, like the transaction ids of the service.
  private static let firstTransaction: Int64 = 2_184_816_393_350_012_928

  private func decide(_ body: UnsafeRawBufferPointer, _ state: inout GameState) -> SandboxReply {
    // The kind of syntax error does not matter: the service gives no details.
    guard let root = unsafe try? JSONNode.parse(Array(body)), root.members != nil else {
      return .refused(.text(400, "Request body couldn't be processed: it is not a JSON object"))
    }
    guard let point = root["decisionPoint"]?.string, !point.utf8.isEmpty, let user = root["userID"]?.string,
      !user.utf8.isEmpty, root["platform"]?.string != nil, Self.isVersion(root["version"])
    else {
      return .refused(
        .text(400, "Request body couldn't be processed: One or more of the compulsory parameters are missing!"))
    }
    let flavour = root["flavour"]?.string ?? "engagement"
    state.decisions += 1
    let answer =
      options.decisions[ByteText("\(point)@\(flavour)")]?.canonicalText
      ?? "{\"transactionID\":\(Self.firstTransaction + state.decisions),\"parameters\":{},"
      + "\"eventParams\":{\"responseDecisionpointName\":\(JSONString.quoted(point)),"
      + "\"responseTransactionID\":\(Self.firstTransaction + state.decisions)}}"
    return .done(.json(200, answer))
  }

  /// Returns whether the API version is 4. iOS and Unity send it as a string, Android as a number.
  private static func isVersion(_ node: JSONNode?) -> Bool {
    node?.string?.utf8.elementsEqual("4".utf8) == true || node?.integer == 4
  }
}

extension SandboxEndpoint {
  /// `GET /collect/api/uuid`
  package static let collectUser = SandboxEndpoint(rawValue: "collectUser")
  package static let collect = SandboxEndpoint(rawValue: "collect")
  package static let decisions = SandboxEndpoint(rawValue: "engage")

  package static let deltaDNA: [SandboxEndpoint] = [.collect, .collectUser, .decisions]
}

/// The parsed path of a request to Collect or Engage (reference deltadna-service 3.1).
struct DeltaDNAPath: Equatable {
  var endpoint: SandboxEndpoint
  /// Empty for the address that issues user ids.
  var key = ""
  var isBulk = false
  /// The hash as written; nil if missing.
  var hash: String?
  /// Whether the key is missing, or the part after it is invalid.
  var isUnknown = false

  /// Returns nil for the path of a different service.
  init?(_ path: String) {
    if let rest = Self.rest(of: path, after: "/collect/api/") {
      endpoint = .collect
      if rest.elementsEqual(["uuid"]) {
        endpoint = .collectUser
        return
      }
      read(rest, allowsBulk: true)
    } else if let rest = Self.rest(of: path, after: "/engage/api/") {
      endpoint = .decisions
      read(rest, allowsBulk: false)
    } else {
      return nil
    }
  }

  /// Returns the path segments after a prefix; nil for a path without it. Like the service, ignores one trailing slash.
  private static func rest(of path: String, after prefix: String) -> ArraySlice<String>? {
    guard path.utf8.starts(with: prefix.utf8) else { return nil }
    var parts = path.utf8.dropFirst(prefix.utf8.count).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { String(Substring($0)) }
    if parts.count > 1, parts.last?.utf8.isEmpty == true { parts.removeLast() }
    return parts[...]
  }

  private mutating func read(_ parts: ArraySlice<String>, allowsBulk: Bool) {
    var parts = parts
    key = parts.popFirst() ?? ""
    if allowsBulk, parts.first?.utf8.elementsEqual("bulk".utf8) == true {
      isBulk = true
      parts.removeFirst()
    }
    if parts.first?.utf8.elementsEqual("hash".utf8) == true, parts.count == 2 {
      hash = parts.last
      parts = []
    }
    isUnknown = !parts.isEmpty || key.utf8.isEmpty
  }
}
