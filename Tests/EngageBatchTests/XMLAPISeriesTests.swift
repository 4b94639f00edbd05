import BatchFoundation
import BatchSandbox
import Testing

/// `xmlapi` with operations from stdin.
@Suite("Operations in series") struct XMLAPISeriesTests {
  private static let operations = (1...4).map { number in
    #"{"operation":"AddRecipient","param":["LIST_ID=100001","CREATED_FROM=1"],"column":["customer_id=s-\#(number)"]}"#
  }

  /// Pastes the lines into the command.
  private func run(_ workspace: Workspace, _ service: Service, _ lines: [String], _ options: String = "") throws
    -> Finished
  {
    try workspace.write("operations.ndjson", lines.joined(separator: "\n") + "\n")
    return try workspace.shell(
      "engage-batch xmlapi --ledger ledger \(options) < operations.ndjson",
      environment: service.environment)
  }

  private func outcomes(_ finished: Finished) throws -> [String] {
    try finished.lines.map { line in
      let row = try JSONNode.parse(Array(line.utf8))
      return "\(row["line"]?.integer ?? 0) \(row["outcome"]?.string ?? "")"
    }
  }

  private func added(_ service: Service) -> Int { service.server.ledger.count { $0.operations == ["AddRecipient"] } }

  @Test("Each is sent once: the same command again sends nothing, and lines that are new are sent")
  func once() throws {
    let (workspace, service) = (try Workspace([]), try Service())
    let dry = try run(workspace, service, Self.operations, "--dry-run")
    #expect(
      dry.messages
        == "operations: 0 answered, 0 failed, 0 in doubt, 0 done before, 0 failed before, 4 left; nothing was sent\n")
    #expect(added(service) == 0)
    let first = try run(workspace, service, Array(Self.operations.prefix(3)))
    #expect(first.code == 0, "\(first.messages)")
    #expect(try outcomes(first) == ["1 answered", "2 answered", "3 answered"])
    let again = try run(workspace, service, Array(Self.operations.prefix(3)))
    #expect(again.output.isEmpty)
    #expect(
      again.messages == "operations: 0 answered, 0 failed, 0 in doubt, 3 done before, 0 failed before, 0 left\n")
    // Two that say the same are two, and so is one more of them.
    let more = try run(workspace, service, [Self.operations[3]] + Self.operations.prefix(3) + [Self.operations[0]])
    #expect(try outcomes(more) == ["1 answered", "5 answered"])
    #expect(added(service) == 5)
  }

  @Test("An operation without an answer is in doubt, and sent again only when told")
  func doubt() throws {
    let workspace = try Workspace([])
    var options = EngageSandboxOptions()
    options.server.faults.rules = [
      FaultRule(
        endpoint: .xmlapi, operation: "AddRecipient", occurrence: .nth([2]), point: .applied, action: .close)
    ]
    let service = try Service(options)
    let lost = try run(workspace, service, Self.operations)
    #expect(lost.code == 69, "\(lost.messages)")
    #expect(try outcomes(lost) == ["1 answered", "2 unknown"])
    #expect(
      lost.messages.contains("operations: 1 answered, 0 failed, 1 in doubt, 0 done before, 0 failed before, 2 left"))
    let rest = try run(workspace, service, Self.operations)
    #expect(rest.code == 76)
    #expect(try outcomes(rest) == ["2 inDoubt", "3 answered", "4 answered"])
    #expect(rest.messages.contains("--again in-doubt"))
    let again = try run(workspace, service, Self.operations, "--again in-doubt")
    #expect(again.code == 0, "\(again.messages)")
    #expect(try outcomes(again) == ["2 answered"])
  }

  @Test(
    "A command that was killed between an operation and its answer leaves it in doubt; half a line of its ledger says nothing"
  )
  func killed() throws {
    let (workspace, service) = (try Workspace([]), try Service())
    let named = Self.operations.enumerated().map { number, line in
      line.replacing(#"{"operation""#, with: #"{"id":"op-\#(number + 1)","operation""#)
    }
    try workspace.write(
      "ledger",
      #"{"ledger":"xmlapi"}"# + "\n" + #"{"id":"op-1","state":"begun"}"# + "\n" + #"{"id":"op-1","state":"answered"}"#
        + "\n" + #"{"id":"op-2","state":"begun"}"# + "\n" + #"{"id":"op-3","sta"#)
    let rest = try run(workspace, service, named)
    #expect(try outcomes(rest) == ["2 inDoubt", "3 answered", "4 answered"])
    #expect(
      try workspace.read("ledger").split(separator: "\n").suffix(2) == [
        #"{"id":"op-4","state":"begun"}"#, #"{"id":"op-4","state":"answered"}"#,
      ])
  }

  @Test("What the service refuses is told and not sent again unless told")
  func failed() throws {
    let (workspace, service) = (try Workspace([]), try Service())
    let lines = [#"{"operation":"GetJobStatus","param":["JOB_ID=7"],"id":"a"}"#, Self.operations[0]]
    let first = try run(workspace, service, lines)
    #expect(first.code == 65)
    #expect(try outcomes(first) == ["1 failed", "2 answered"])
    let second = try run(workspace, service, lines)
    #expect(second.code == 65)
    #expect(
      second.messages.hasPrefix("operations: 0 answered, 0 failed, 0 in doubt, 1 done before, 1 failed before, 0 left"))
    #expect(try outcomes(run(workspace, service, lines, "--again failed")) == ["1 failed"])
  }

  @Test("Nothing is sent where a line is no operation, or the ledger is something else")
  func refusals() throws {
    let (workspace, service) = (try Workspace([]), try Service())
    let lines = [
      Self.operations[0], "{", #"{"operation":"addRecipient"}"#, #"{"operation":"GetLists","param":["A"]}"#,
      #"{"operation":"GetLists","parameter":[]}"#, #"{"operation":"GetLists","id":"x"}"#,
      #"{"operation":"GetLists","id":"x"}"#, #"{"operation":"GetLists","param":["A=\u0001"]}"#, "7",
    ]
    let refused = try run(workspace, service, lines)
    #expect(refused.code == 65)
    let faults = refused.messages.split(separator: "\n").map(String.init)
    #expect(faults.count == 8)
    #expect(faults[0].hasPrefix("stdin:2: error: not JSON: "), "\(faults[0])")
    #expect(
      faults.dropFirst() == [
        "stdin:3: error: 'addRecipient' is not an operation of the XMLAPI; names are case-sensitive",
        #"stdin:4: error: 'param' is not an array of strings such as "NAME=VALUE""#,
        "stdin:5: error: 'parameter' is not one of operation, param, column and id",
        "stdin:7: error: line 6 has the same 'id'",
        "stdin:8: error: a value contains a character that XML does not allow",
        "stdin:9: error: not an object", "nothing was sent",
      ])
    #expect(added(service) == 0)
    #expect(try run(workspace, service, [""]).code == 66)
    try workspace.write("ledger", "mine\n")
    let foreign = try run(workspace, service, Self.operations)
    #expect(foreign.code == 78)
    #expect(
      foreign.messages
        == "ledger: error: not an xmlapi ledger, so it was left unchanged; name a new file\n")
    #expect(try workspace.read("ledger") == "mine\n")
    #expect(try workspace.run("xmlapi").code == 64)
  }
}
