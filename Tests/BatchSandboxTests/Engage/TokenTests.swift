import BatchFoundation
import BatchSandbox
import Testing

@Suite struct TokenTests {
  private static let hour = Milliseconds(3_600_000)

  @Test func returnsTheSameTokenForThreeHoursAndKeepsItForTheFourth() throws {
    try withSandbox { server, client, first throws in
      server.advanceClock(by: Self.hour)
      #expect(
        try client.token().body
          == "{\"access_token\":\"\(first)\",\"token_type\":\"bearer\",\"refresh_token\":\"ref-example\",\"expires_in\":10800}"
      )
      server.advanceClock(by: Milliseconds(2 * Self.hour.count))
      let second = try client.accessToken()
      #expect(second != first)
      #expect(try client.request("GET", "/rest/events/errors", token: first).status == 200)
      server.advanceClock(by: Self.hour)
      #expect(try client.request("GET", "/rest/events/errors", token: first).status == 401)
      #expect(try client.request("GET", "/rest/events/errors", token: second).status == 200)
      #expect(server.totals.tokensIssued == 2)
    }
  }

  @Test func refusesAWrongSecretAndWhatIsNoRefresh() throws {
    let options = EngageSandboxOptions.fixture {
      $0.switches.credentials = SandboxCredentials(clientID: "cid", secret: "s/+=", refreshToken: "ref")
    }
    try withServer(options) { _, client throws in
      let wrong = try client.token(id: "cid", secret: "other", refresh: "ref")
      #expect(wrong.status == 401)
      #expect(wrong.body == "{\"error\":\"invalid_client\",\"error_description\":\"Bad client credentials\"}")
      #expect(try client.token(id: "cid", secret: "s%2F%2B%3D", refresh: "ref").status == 200)
      #expect(try client.token(id: "cid", secret: "s%2F%2B%3D", refresh: "stale").status == 401)
      let other = try client.request(
        "POST", "/oauth/token", type: "application/x-www-form-urlencoded", body: "grant_type=password")
      #expect(other.status == 400)
    }
  }

  @Test func limitsTheCallsOfAnHour() throws {
    try withSandbox(.fixture { $0.switches.tokenCallsPerHour = 2 }) { server, client, _ throws in
      #expect(try client.token().status == 200)
      let refused = try client.token()
      #expect(refused.status == 400)
      #expect(
        refused.body == "{\"error\":\"invalid_request\",\"error_description\":\"Access token limits exceeded.\"}")
      server.advanceClock(by: Self.hour)
      #expect(try client.token().status == 200)
    }
  }

  @Test(arguments: [
    (
      SandboxSwitches.ExpiredToken.status401, 401,
      "{\"error\":\"invalid_token\",\"error_description\":\"access token has expired\"}"
    ),
    (.fault145, 200, fault(145, "<![CDATA[Session has expired or is invalid]]>", "SP.Admin")),
    (.faultText, 200, fault(145, "<![CDATA[The access token has expired]]>", "SP.API")),
    (.empty, 200, ""),
  ])
  func answersAnExpiredTokenAsItIsTold(form: SandboxSwitches.ExpiredToken, status: Int, body: String) throws {
    try withSandbox(.fixture { $0.switches.expiredToken = form }) { server, client, token throws in
      server.expireTokens()
      #expect(try client.xml(select([("customer_id", "c-1")]), token: token) == body)
      #expect(server.ledger.last?.status == status)
      #expect(server.ledger.last?.applied == false)
    }
  }

  @Test func countsATokenCallNobodyNeeded() throws {
    try withSandbox { server, client, _ throws in
      _ = try client.token()
      #expect(server.totals.violations == ["needless-token-call": 1])
    }
  }

  @Test func startsAndEndsALegacySession() throws {
    try withSandbox { _, client, _ throws in
      let login =
        "<Envelope><Body><Login><USERNAME>api@example.test</USERNAME><PASSWORD>x</PASSWORD></Login></Body></Envelope>"
      let answer = try client.request("POST", "/XMLAPI", type: "text/xml", body: login)
      #expect(
        answer.body
          == "<Envelope><Body><RESULT><SUCCESS>true</SUCCESS><SESSIONID>FEED1001</SESSIONID>"
          + "<ORGANIZATION_ID>org-1</ORGANIZATION_ID><SESSION_ENCODING>;jsessionid=FEED1001</SESSION_ENCODING></RESULT></Body></Envelope>"
      )
      let path = "/XMLAPI;jsessionid=FEED1001"
      let lists = "<Envelope><Body><GetListMetaData><LIST_ID>1</LIST_ID></GetListMetaData></Body></Envelope>"
      #expect(try client.request("POST", path, type: "text/xml", body: lists).status == 200)
      let logout = "<Envelope><Body><Logout/></Body></Envelope>"
      #expect(
        try client.request("POST", path, type: "text/xml", body: logout).body
          == "<Envelope><Body><RESULT><SUCCESS>TRUE</SUCCESS></RESULT></Body></Envelope>")
      #expect(try client.request("POST", path, type: "text/xml", body: lists).status == 401)
    }
  }
}
