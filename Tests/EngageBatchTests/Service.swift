import BatchSandbox
import FoundationEssentials
import TestSupport

/// A sandbox in the process of the tests, which knows what programs really sent.
final class Service {
  let server: SandboxServer

  /// - Parameter given: its faults, switches, hook and recipients count; lists and tables are those of the jobs of the checkout.
  init(_ given: EngageSandboxOptions = EngageSandboxOptions(), events: EventAccounting = .bodies) throws {
    let recipients = Checkout.root.appending(path: "samples/identities/recipients.json")
    var options = EngageSandboxOptions.embedded(
      list: "100001",
      columns: [
        "Mobile User Id", "Merged Recipient Id", "Merged Date", "Last Location Address", "Last Location Address Time",
        "customer_id",
      ].map { OrganizationSeed.Column($0) }, auditTable: "50002",
      auditColumns: ["Audit Record Id", "Old Recipient Id", "New Recipient Id", "Create Date"].map {
        OrganizationSeed.Column($0)
      })
    options.organization.merge(try OrganizationSeed(json: Array(Data(contentsOf: recipients)), of: recipients.path))
    options.server.faults = given.server.faults
    options.switches = given.switches
    options.server.hook = given.server.hook
    options.filesFolder = given.filesFolder
    options.organization.merge(given.organization)
    options.events = events
    server = try SandboxServer.start(options)
  }

  deinit {
    // The port goes with the process in any case.
    try? server.stop()
  }

  /// The variables with which a run finds it.
  var environment: [String: String] {
    [
      "ENGAGE_BASE_URL": server.baseURL, "ENGAGE_CLIENT_ID": "client", "ENGAGE_SECRET": "secret",
      "ENGAGE_REFRESH_TOKEN": "refresh",
    ]
  }

  /// The events of all submissions that were applied, as they came, one a line, sorted by their bytes.
  var events: [String] {
    server.appliedBodies.flatMap { Self.events(in: $0) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// `{"events":[...]}` cut between its elements, which have no white space outside strings.
  static func events(in body: [UInt8]) -> [String] {
    let text = String(decoding: body, as: UTF8.self)
    guard let start = text.firstRange(of: "["), let end = text.lastIndex(of: "]") else { return [] }
    return text[start.upperBound..<end].split(separator: #"]},{"eventTypeCode""#).enumerated().map { number, piece in
      (number == 0 ? "" : #"{"eventTypeCode""#) + piece + (piece.hasSuffix("]}") ? "" : "]}")
    }
  }
}

extension [String] {
  var sortedByBytes: [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}
