import BatchFoundation
import LoopbackServer
import TestSupport
import Testing

@testable import BatchWire

@Suite("Credentials of storage") struct CredentialSourceTests {
  private func source(_ environment: [String: String], now: @escaping @Sendable () -> Instant = { .now })
    -> CredentialSource
  {
    CredentialSource(environment: environment, region: "eu-west-1", now: now) { .test() }
  }

  private func words(_ environment: [String: String]) -> String? {
    #expect(throws: CredentialSource.Problem.self) { try source(environment).credentials() }?.words
  }

  @Test("The environment comes first, also as files")
  func environment() throws {
    let folder = try TemporaryFolder()
    try folder.write("secret", "word\n")
    let found = try source([
      "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY_FILE": "\(folder.path)/secret", "AWS_SESSION_TOKEN": "token",
    ]).credentials()
    #expect(found == StorageCredentials(id: "id", secret: Secret("word"), token: Secret("token")))
    #expect("\(found)".contains("word") == false)
    #expect(words(["AWS_ACCESS_KEY_ID": "id"]) == "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not")
    #expect(
      words(["AWS_ACCESS_KEY_ID_FILE": "\(folder.path)/none"])
        == "the file named by AWS_ACCESS_KEY_ID_FILE is unusable (cannot be read: No such file or directory)")
    #expect(words([:]) == "neither the environment nor a file has any")
  }

  @Test("Profiles come from both files")
  func profiles() throws {
    let folder = try TemporaryFolder()
    try folder.write(
      "credentials",
      """
      # [exports]
      [default]
      aws_access_key_id=one
      aws_secret_access_key = first
      [ exports ]
      aws_access_key_id = two
      aws_secret_access_key = se=cond
      aws_session_token = third
      [half]
      aws_access_key_id = three
      """)
    try folder.write(
      "config", "[profile exports]\nregion = eu-central-1\ns3 =\n  region = nested\n[exports]\nregion = wrong\n")
    let files = [
      "AWS_SHARED_CREDENTIALS_FILE": "\(folder.path)/credentials", "AWS_CONFIG_FILE": "\(folder.path)/config",
    ]
    func with(_ profile: String) -> [String: String] { files.merging(["AWS_PROFILE": profile]) { $1 } }
    #expect(try source(files).credentials() == StorageCredentials(id: "one", secret: Secret("first")))
    #expect(
      try source(with("exports")).credentials()
        == StorageCredentials(id: "two", secret: Secret("se=cond"), token: Secret("third")))
    #expect(AWSProfile(with("exports"))["region"] == "eu-central-1")
    #expect(words(with("half")) == "the profile 'half' has no aws_secret_access_key")
    #expect(words(with("none")) == "the profile 'none' (AWS_PROFILE) has no access key")
    try folder.write("config", "[profile default]\nregion = eu-north-1\n")
    #expect(AWSProfile(files)["region"] == "eu-north-1")
    let unreadable = ["AWS_SHARED_CREDENTIALS_FILE": folder.path]
    #expect(words(unreadable) == "the profile file '\(folder.path)' is unusable (it is a folder, not a regular file)")
  }

  @Test("A container's credentials are renewed before they expire, and its token is sent to it alone")
  func container() throws {
    let server = try LoopbackServer { connection in
      while connection.readHead() != nil {
        let hour = connection.number + 1
        connection.answer(
          200, [],
          #"{"AccessKeyId":"id\#(hour)","SecretAccessKey":"s","Token":"t","Expiration":"2026-01-15T0\#(hour):00:00Z"}"#)
      }
    }
    let clock = Guarded(Instant.parse(rfc3339: "2026-01-15T00:30:00Z") ?? .now)
    let source = source(
      [
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(server.port)/creds?x=1",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": "bearer",
      ]) { clock.withLock { $0 } }
    #expect(try source.credentials().id == "id1")
    #expect(try source.credentials().id == "id1")
    clock.withLock { $0 = Instant.parse(rfc3339: "2026-01-15T00:56:00Z") ?? .now }
    #expect(try source.credentials().id == "id2")
    #expect(server.arrivals.map(\.requestLine) == Array(repeating: "GET /creds?x=1 HTTP/1.1", count: 2))
    #expect(server.arrivals.first?.header("Authorization") == "bearer")
    for address in ["http://169.254.169.254/latest", "http://example.org/", "https://example.org/"] {
      #expect(
        words(["AWS_CONTAINER_CREDENTIALS_FULL_URI": address])
          == "AWS_CONTAINER_CREDENTIALS_FULL_URI is not an address of this machine, ECS or EKS")
    }
  }

  @Test("A web identity is exchanged for credentials, in the body of the request")
  func webIdentity() throws {
    let folder = try TemporaryFolder()
    try folder.write("token", "web/identity\n")
    let server = try LoopbackServer { connection in
      while connection.readRequest() != nil {
        connection.answer(
          200, [],
          """
          <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>\
          <Credentials><AccessKeyId>id</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>\
          <Expiration>2099-01-15T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
          </AssumeRoleWithWebIdentityResponse>
          """)
      }
    }
    let found = try source([
      "AWS_WEB_IDENTITY_TOKEN_FILE": "\(folder.path)/token", "AWS_ROLE_ARN": "arn:aws:iam::1:role/read",
      "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:\(server.port)",
    ]).credentials()
    #expect(
      found
        == StorageCredentials(
          id: "id", secret: Secret("s"), token: Secret("t"), expires: Instant.parse(rfc3339: "2099-01-15T00:00:00Z")))
    let request = try #require(server.arrivals.first)
    #expect(request.requestLine == "POST / HTTP/1.1")
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fread&RoleSessionName=engage-batch&Version=2011-06-15&WebIdentityToken=web%2Fidentity"
    )
  }

  /// The variable was named although it was not set.
  @Test(
    "An address of the token service that is none is named by what it is made of",
    arguments: [("ftp://sts", "AWS_ENDPOINT_URL_STS is not an https address"), ("", "'a b' is not a valid region")])
  func noTokenService(endpoint: String, words: String) throws {
    let folder = try TemporaryFolder()
    try folder.write("token", "web/identity\n")
    let source = CredentialSource(
      environment: [
        "AWS_WEB_IDENTITY_TOKEN_FILE": "\(folder.path)/token", "AWS_ROLE_ARN": "arn", "AWS_ENDPOINT_URL_STS": endpoint,
      ], region: "a b"
    ) { .test() }
    #expect(throws: CredentialSource.Problem(words: words)) { try source.credentials() }
  }
}
