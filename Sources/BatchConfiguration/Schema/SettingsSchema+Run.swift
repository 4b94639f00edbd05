import BatchFoundation

/// The service, and how a run reads, sends and reports; the phones had no such settings.
extension SettingsSchema {
  static let transportRows: [Setting] = [
    connectionRows, uploadRows, ingestRows, privacyRows, reportRows, deepLinksRows, sandboxRows,
  ].flatMap { $0 }

  private static let connectionRows: [Setting] = rows(
    .connection,
    [
      .optionalText(
        "baseUrl", .endpoint, \.connection.baseURL,
        "The service, such as `https://api1.ibmmarketingcloud.com`; `http` only to the loopback."
      ).from("ENGAGE_BASE_URL"),
      .secret("clientId", \.connection.clientId, "OAuth client id.").from("ENGAGE_CLIENT_ID"),
      .secret("secret", \.connection.clientSecret, "OAuth client secret.").from("ENGAGE_SECRET"),
      .secret("refreshToken", \.connection.refreshToken, "OAuth refresh token.").from("ENGAGE_REFRESH_TOKEN"),
      .text("oauthPath", "/oauth/token", .urlPath, \.connection.oauthPath, "Path of the token endpoint."),
      .text("xmlapiPath", "/XMLAPI", .urlPath, \.connection.xmlapiPath, "Path of XMLAPI."),
      .text(
        "eventsPath", "/rest/events/submission", .urlPath, \.connection.eventsPath, "Path that events are posted to."),
      .text(
        "eventErrorsPath", "/rest/events/errors", .urlPath, \.connection.eventErrorsPath,
        "Path that rejected events are read from."),
      .optionalText(
        "caFile", .file, \.connection.caFile, "PEM file of certificates that are trusted besides those of the system."),
      .optionalText(
        "proxy", .proxy, \.connection.proxy,
        "HTTP proxy, such as `http://proxy.example.org:3128`. Proxy variables of the environment are not looked at."),
      .secret("proxyCredentials", \.connection.proxyCredentials, "`user:password` for the proxy."),
      .duration(
        "connectTimeout", "10 seconds", atLeast: 1, \.connection.connectTimeout,
        "Longest time for a connection to stand."),
      .duration(
        "totalTimeout", "60 seconds", atLeast: 1, \.connection.totalTimeout,
        "Longest time for a request with its answer."),
      .duration(
        "idleTimeout", "20 seconds", \.connection.idleTimeout,
        "How long a connection may have been idle to be used again; shorter where the service's `Keep-Alive` says so, or closed one without an answer. `0s` connects anew for each request."
      ),
      .number(
        "minimumRate", 100, in: 0...1_000_000_000, unit: "bytes a second", \.connection.minimumRate,
        "Rate below which a transfer counts as stalled; 0 switches the check off."),
      .bytes(
        "maxResponseBytes", 1 << 20, in: 1024...(1 << 30), \.connection.maxResponseBytes,
        "Longer answers are cut off and count as lost."),
      .duration(
        "tokenRefreshMargin", "10 minutes", \.connection.tokenRefreshMargin,
        "How long before its end an access token is renewed at the latest: a quarter of its life if that is longer, never more than half."
      ),
    ])

  private static let uploadRows: [Setting] = rows(
    .upload,
    [
      .number(
        "maxEventsPerRequest", 100, in: 1...10_000, unit: "events", \.upload.maxEventsPerRequest,
        "Events in one request, at most."),
      .bytes(
        "maxBytesPerRequest", 1_000_000, in: 1...100_000_000, \.upload.maxBytesPerRequest,
        "Bytes of one request body, at most."),
      .number(
        "concurrency", 4, in: 1...8, unit: "requests", \.upload.concurrency,
        "Requests under way at once, of events and, before them, of identities. The service allows 10 to an organisation; 8 is the limit here."
      ),
      .choice(
        "onUnknown", UnknownOutcomePolicy.resend, \.upload.onUnknown,
        "Events of a request that the service may have taken or not, because no complete answer came (also of a run that was killed), a 5xx other than 503, or a success whose body cannot be the service's: send again, or hold for an operator."
      ),
      .duration(
        "patience", "10 minutes", \.upload.patience,
        "How long a service is waited for that takes no calls of a kind and says that it will again (503, 429, `Retry-After`), before the run ends with 69 and leaves the rest queued. `Networking.retryBudget` bounds it too."
      ),
      .duration(
        "patienceAtStart", "30 seconds", \.upload.patienceAtStart,
        "`patience` while the service has taken nothing yet in the run, if that is shorter: the schedule of the job starts another run."
      ),
      .number(
        "maxCallsPerHour", 0, in: 0...100_000_000, unit: "calls", \.upload.maxCallsPerHour,
        "Calls to Engage within any hour, of events and identities, at most, by all runs on the store; what is beyond waits like for a service that asks to come back later. 0 is no limit."
      ),
      .number(
        "maxTokensPerHour", 0, in: 0...100_000_000, unit: "tokens", \.upload.maxTokensPerHour,
        "The same for access tokens that are asked for."),
    ])

  private static let ingestRows: [Setting] = rows(
    .ingest,
    [
      .bytes(
        "maxLineBytes", 16 << 20, in: 1...(1 << 30), \.ingest.maxLineBytes,
        "Longer lines are quarantined as `line-too-long`."),
      .bytes(
        "memoryLimit", 128_000_000, in: 1 << 20...(1 << 40), \.ingest.memoryLimit,
        "Memory for sorting records; what does not fit goes to temporary files."),
      .number(
        "workers", 0, in: 0...64, unit: "threads", \.ingest.workers,
        "Threads that read lines and decide devices; 0 means one for each processor that the process may use. The output is the same bytes for any number."
      ),
      .duration(
        "rewind", "4 days", \.ingest.rewind,
        "How far behind what a store knows late records are decided in their place, as if they had come in time: their devices are taken back. The store keeps the records of so long. `0 seconds` switches it off."
      ),
      .choice(
        "lateRecords", LateRecordPolicy.accept, \.ingest.lateRecords,
        "Records older than what an earlier run processed for their device, beyond the reach of `rewind`: process by their own time, or quarantine."
      ),
      .bytes(
        "quarantineLimit", 1_000_000_000, in: 0...(1 << 50), \.ingest.quarantineLimit,
        "Bytes of quarantined lines that a store keeps, those that wait no more included. Lines beyond are counted by reason and file, and no longer kept."
      ),
    ])

  private static let privacyRows: [Setting] = rows(
    .privacy,
    [
      .list(
        "leaveOut", [], of: .name, \.privacy.leftOut,
        "Attributes of Engage's events that are neither kept in events nor sent."),
      .list(
        "mask", [], of: .name, \.privacy.masked, "Attributes of Engage's events whose values are replaced by `***`."),
      .list(
        "hash", [], of: .name, \.privacy.hashed,
        "Attributes of Engage's events whose values are replaced by their HMAC-SHA-256 with `Privacy.hashKey`, in hexadecimal: equal values stay equal."
      ),
      .secret(
        "hashKey", \.privacy.hashKey, "Key of `Privacy.hash`, of 16 bytes at least."
      ).from("ENGAGE_HASH_KEY"),
    ])

  private static let reportRows: [Setting] = rows(
    .report,
    [
      Setting.choice(
        "personalData", PersonalDataPolicy.hash, \.report.personalData,
        "Ids and other personal data in reports: left out, hashed, or in clear; `true` stands for `clear`, `false` for `omit`."
      )
      .reading(
        .choiceOrBoolean(PersonalDataPolicy.allCases.map(\.rawValue), whenTrue: "clear", whenFalse: "omit")),
      .choice(
        "mode", ReportMode.owner, \.report.mode,
        "Rights of the files of reports: `0640` lets their group read them, and look into their folders (0750)."),
      .secret(
        "alarm", \.report.alarm,
        "Webhook that is called when a job's runs start to fail, and when one succeeds again."
      ).from("ENGAGE_ALARM_URL"),
      .choice(
        "alarmForm", AlarmForm.json, \.report.alarmForm,
        "What `Report.alarm` takes: an object of its own, or a message of Slack or Teams."),
      .list(
        "alarmCommand", [], of: .any, \.report.alarmCommand,
        "A program with its arguments that gets the same as a line of JSON on stdin; it has 10 seconds."),
      .number(
        "usualRuns", 7, in: 0...365, \.report.usualRuns,
        "How many earlier good runs of the job say what is usual, once there are three; what is unusual is reported, and ends a run with `--fail-on unusual`. 0 compares nothing."
      ),
      .number(
        "usualFactor", 3, in: 1...1000, \.report.usualFactor,
        "The factor beyond the least or the most of these runs from which a figure is unusual."),
    ])
}
