import Testing

/// Credentials are for the service alone.
@Suite("Credentials") struct CredentialTests {
  private static let unreadable = [
    "DELTADNA_ENVIRONMENT_KEY_FILE": "absent", "DELTADNA_HASH_SECRET": "s", "DELTADNA_HASH_SECRET_FILE": "absent",
    "ENGAGE_SECRET_FILE": "absent",
  ]

  private static let day = "2026-01-15T00:00:00Z"

  /// They ended with 78.
  @Test(
    "What is done without the service goes without credentials that cannot be read",
    arguments: [
      "run JOB --sandbox", "post JOB --sandbox", "doctor JOB --sandbox",
      "backfill JOB --sandbox --step P1D --from \(day) --to 2026-01-16T00:00:00Z --store new.sqlite",
      "rerun JOB --sandbox --window \(day)/2026-01-16T00:00:00Z --dry-run", "forget JOB --user nobody",
      "compare JOB --with DeltaDNA.oldestEvent=3650d", "validate JOB", "quarantine replay JOB", "history JOB",
      "store purge JOB --days 1", "store status JOB",
    ])
  func local(command: String) throws {
    let workspace = try Workspace()
    for words in ["--no-upload", "--sandbox"] { #expect(try workspace.run("run", "jobs/game.json", words).code == 0) }
    let line = "engage-batch " + command.replacing("JOB", with: "jobs/game.json")
    let finished = try workspace.shell(line, environment: Self.unreadable)
    #expect(finished.code == 0, "\(finished.messages)")
    #expect(!finished.messages.contains("absent"), "\(finished.messages)")
  }

  @Test(
    "What is for the service needs them, and so does the check of them",
    arguments: [
      "run JOB", "post JOB", "run JOB --no-upload", "forget JOB --user nobody --at-service", "config check JOB",
    ])
  func ofTheService(command: String) throws {
    let workspace = try Workspace()
    #expect(try workspace.run("run", "jobs/game.json", "--no-upload").code == 0)
    let line = "engage-batch " + command.replacing("JOB", with: "jobs/game.json")
    let finished = try workspace.shell(line, environment: Self.unreadable)
    #expect(finished.code == 78)
    let words = "DELTADNA_ENVIRONMENT_KEY_FILE: error: the file 'absent' cannot be read: No such file or directory"
    #expect(finished.messages.contains(words), "\(finished.messages)")
  }
}
