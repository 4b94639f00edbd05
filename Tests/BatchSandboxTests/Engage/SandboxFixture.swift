import BatchSandbox

extension EngageSandboxOptions {
  /// A database with the columns of the SDKs' documentation and an audit table.
  static func fixture(keyColumns: [String] = [], _ change: (inout EngageSandboxOptions) -> Void = { _ in })
    -> EngageSandboxOptions
  {
    var options = EngageSandboxOptions()
    options.organization.lists = [
      OrganizationSeed.Table(
        id: "50001",
        columns: [
          .init("customer_id"), .init("Mobile User Id"), .init("Merged Recipient Id"), .init("Merged Date", .timestamp),
        ], keyColumns: keyColumns)
    ]
    options.organization.tables = [
      OrganizationSeed.Table(
        id: "50002",
        columns: [
          .init("Audit Record Id", isRequired: true), .init("Old Recipient Id", isRequired: true),
          .init("New Recipient Id", isRequired: true), .init("Create Date", .timestamp, isRequired: true),
        ], keyColumns: ["Audit Record Id"])
    ]
    change(&options)
    return options
  }

  /// The options of a fault file.
  static func read(_ path: String) throws -> EngageSandboxOptions {
    var options = EngageSandboxOptions()
    var settings = SandboxSettings()
    try settings.read(faultFile: path, endpoints: SandboxEndpoint.engage) { options.read($0) }
    options.server = settings
    return options
  }

  mutating func read(faultFile bytes: [UInt8]) throws {
    var settings = server
    try settings.read(faults: bytes, of: "f", endpoints: SandboxEndpoint.engage) { read($0) }
    server = settings
  }
}

/// As ``withServer(_:_:)``, with a token.
func withSandbox<Result>(
  _ options: EngageSandboxOptions = .fixture(), _ body: (SandboxServer, RawClient, String) throws -> Result
) throws -> Result {
  try withServer(options) { server, client in try body(server, client, try client.accessToken()) }
}

/// Runs a test against a sandbox that is stopped at its end, with one open connection.
func withServer<Result>(
  _ options: EngageSandboxOptions = .fixture(), _ body: (SandboxServer, RawClient) throws -> Result
) throws -> Result {
  let server = try SandboxServer.start(options)
  do {
    let result = try body(server, try RawClient(port: server.port))
    try server.stop()
    return result
  } catch {
    try server.stop()
    throw error
  }
}

func add(_ columns: [(String, String)], list: String = "50001", extra: String = "") -> String {
  "<AddRecipient><LIST_ID>\(list)</LIST_ID>\(extra)\(pairs(columns))</AddRecipient>"
}

func update(_ id: String, _ columns: [(String, String)], list: String = "50001") -> String {
  "<UpdateRecipient><LIST_ID>\(list)</LIST_ID><RECIPIENT_ID>\(id)</RECIPIENT_ID>\(pairs(columns))</UpdateRecipient>"
}

func select(_ columns: [(String, String)], list: String = "50001") -> String {
  "<SelectRecipientData><LIST_ID>\(list)</LIST_ID>\(pairs(columns))</SelectRecipientData>"
}

func pairs(_ columns: [(String, String)]) -> String {
  columns.map { "<COLUMN><NAME>\($0.0)</NAME><VALUE><![CDATA[\($0.1)]]></VALUE></COLUMN>" }.joined()
}

func fault(_ id: Int, _ text: String, _ errorClass: String) -> String {
  "<RESULT><SUCCESS>false</SUCCESS></RESULT><Fault><Request/><FaultCode/><FaultString>\(text)</FaultString>"
    + "<detail><error><errorid>\(id)</errorid><module/><class>\(errorClass)</class><method/></error></detail></Fault>"
}

func submission(_ events: [String]) -> String { "{\"events\":[\(events.joined(separator: ","))]}" }

func event(_ name: String, code: Int = 17) -> String {
  "{\"eventTypeCode\":\"\(code)\",\"eventTimestamp\":\"2026-01-01T00:00:00.000Z\","
    + "\"attributes\":[{\"name\":\"Event Name\",\"value\":\"\(name)\"}]}"
}
