import BatchFoundation
import BatchSandbox
import TestSupport
import Testing

/// Every request that the vectors know is one the sandbox can carry out.
@Suite struct VectorTests {
  /// An organization in which the ids of the vectors exist.
  private static func organization() throws -> OrganizationSeed {
    let text = """
      {"lists": [{"id": "50001", "columns": ["customer_id", "loyalty_id", "Mobile User Id",
                   {"name": "Merged Date", "type": 17}]}],
       "tables": [{"id": "50002", "name": "Merges", "columns": ["Audit Record Id", "Old Recipient Id", "New Recipient Id",
                    {"name": "Create Date", "type": 17}], "keyColumns": ["Audit Record Id"]}],
       "recipients": [{"id": 900000000101, "values": {"EMAIL": "ada@example.test", "Mobile User Id": "A1"}},
                      {"id": 900000000202, "values": {"customer_id": "c-1", "loyalty_id": "y-7"}}],
       "createsWhatIsMissing": true}
      """
    return try OrganizationSeed(json: Array(text.utf8), of: "seed")
  }

  @Test func carriesOutEveryRequest() throws {
    let requests = try Vectors.cases("engage-xmlapi", "requests")
    // Contact lists, jobs, files, programs and rows of these do not exist in a fresh organization.
    let missing: Set<String> = [
      "AddContactToContactList", "GetJobStatus", "DeleteJob", "ImportList", "ImportTable", "AddContactToProgram",
      "DeleteRelationalTableData",
    ]
    var answered = 0
    for request in requests {
      let operation = try #require(request["op"]?.string)
      let envelope = try #require(request["xml"]?.string)
      var options = EngageSandboxOptions()
      options.organization = try Self.organization()
      try withSandbox(options) { server, client, token throws in
        let answer = try client.request("POST", "/XMLAPI", token: token, type: "text/xml;charset=UTF-8", body: envelope)
        #expect(server.ledger.last?.operations.first == operation)
        for id in [50, 51, 52, 100, 150, 316] {
          #expect(!answer.body.contains("<errorid>\(id)</errorid>"), "\(operation): \(envelope)\n\(answer.body)")
        }
        if !missing.contains(operation) {
          #expect(
            answer.body.uppercased().contains("<SUCCESS>TRUE") || answer.body.contains("<SUCCESS>SUCCESS"),
            "\(operation): \(envelope)\n\(answer.body)")
        }
      }
      answered += 1
    }
    #expect(answered == requests.count)
  }

  @Test func takesEveryTransportForm() throws {
    let forms = try Vectors.cases("engage-xmlapi", "transport") { $0["headers"]?["Content-Type"] != nil }
    for form in forms {
      let path = try #require(form["path"]?.string)
      let body = try #require(form["body"]?.string)
      let type = try #require(form["headers", "Content-Type"]?.string)
      var options = EngageSandboxOptions()
      options.organization = try Self.organization()
      try withSandbox(options) { server, client, token throws in
        let answer = try client.request("POST", path, token: token, type: type, body: body)
        #expect(answer.status == 200)
        #expect(server.ledger.last?.operations.isEmpty == false, "\(form.id)")
      }
    }
  }
}
