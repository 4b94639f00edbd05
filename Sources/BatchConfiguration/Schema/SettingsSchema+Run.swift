import BatchFoundation

/// Settings of the service and of how a run reads, sends and reports; the phones have no such settings.
extension SettingsSchema {
  static let transportRows: [Setting] = [
    connectionRows, uploadRows, ingestRows, privacyRows, reportRows, deepLinksRows, sandboxRows,
  ].flatMap { $0 }

  private static let connectionRows: [Setting] = rows(
    .connection,
    [
      .optionalText(
        "baseUrl", .endpoint, \.connection.baseURL,
        "URL of the service, such as `https://api1.ibmmarketingcloud.com`; `http` is for the loopback only."
      ).from("ENGAGE_BASE_URL"),
      .secret("clientId", \.connection.clientId, "OAuth client id.").from("ENGAGE_CLIENT_ID"),
      .secret("secret", \.connection.clientSecret, "OAuth client secret.").from("ENGAGE_SECRET"),
      .secret("refreshToken", \.connection.refreshToken, "OAuth refresh token.").from("ENGAGE_REFRESH_TOKEN"),
      .text("oauthPath", "/oauth/token", .urlPath, \.connection.oauthPath, "Path of the token endpoint."),
      .text("xmlapiPath", "/XMLAPI", .urlPath, \.connection.xmlapiPath, "Path of XMLAPI."),
      .text(
        "eventsPath", "/rest/events/submission", .urlPath, \.connection.eventsPath, "Path to which events are posted."),
      .text(
        "eventErrorsPath", "/rest/events/errors", .urlPath, \.connection.eventErrorsPath,
        "Path from which rejected events are read."),
      .optionalText(
        "caFile", .file, \.connection.caFile, "PEM file of certificates to trust besides those of the system."),
      .optionalText(
        "proxy", .proxy, \.connection.proxy,
        "HTTP proxy, such as `http://proxy.example.org:3128`. Proxy variables of the environment are ignored."),
      .secret("proxyCredentials", \.connection.proxyCredentials, "`user:password` for the proxy."),
      .duration(
        "connectTimeout", "10 seconds", atLeast: 1, \.connection.connectTimeout,
        "Timeout for opening a connection."),
      .duration(
        "totalTimeout", "60 seconds", atLeast: 1, \.connection.totalTimeout,
        "Timeout of a request, including its answer."),
      .duration(
        "idleTimeout", "20 seconds", \.connection.idleTimeout,
        "How long an idle connection may be reused; shorter if the service's `Keep-Alive` says so, or if it closed one without an answer. `0s` opens a connection for each request."
      ),
      .number(
        "minimumRate", 100, in: 0...1_000_000_000, unit: "bytes a second", \.connection.minimumRate,
        "Rate below which a transfer counts as stalled; 0 disables the check."),
      .bytes(
        "maxResponseBytes", 1 << 20, in: 1024...(1 << 30), \.connection.maxResponseBytes,
        "Longest answer; longer ones are truncated and count as lost."),
      .duration(
        "tokenRefreshMargin", "10 minutes", \.connection.tokenRefreshMargin,
        "Least time before its end at which an access token is renewed: a quarter of its life if that is longer, never more than half."
      ),
    ])

  private static let uploadRows: [Setting] = rows(
    .upload,
    [
      .number(
        "maxEventsPerRequest", 100, in: 1...10_000, unit: "events", \.upload.maxEventsPerRequest,
        "Maximum number of events in a request."),
      .bytes(
        "maxBytesPerRequest", 1_000_000, in: 1...100_000_000, \.upload.maxBytesPerRequest,
        "Maximum size of a request body."),
      .number(
        "concurrency", 4, in: 1...8, unit: "requests", \.upload.concurrency,
        "Maximum number of concurrent requests, of events and, before them, of identities. The service allows an organization 10; the limit here is 8."
      ),
      .choice(
        "onUnknown", UnknownOutcomePolicy.resend, \.upload.onUnknown,
        "What to do with the events of a request that the service may have accepted: no complete answer came (or the run was killed), a 5xx other than 503, or a success whose body cannot be the service's. Send again, or hold for an operator."
      ),
      .duration(
        "patience", "10 minutes", \.upload.patience,
        "How long to wait for a service that temporarily refuses all calls of a kind (503, 429, `Retry-After`), before the run ends with 69 and leaves the rest queued. `Networking.retryBudget` limits it too."
      ),
      .duration(
        "patienceAtStart", "30 seconds", \.upload.patienceAtStart,
        "`patience` while the service has not accepted anything in the run yet, if shorter: the job's schedule starts another run."
      ),
      .number(
        "maxCallsPerHour", 0, in: 0...100_000_000, unit: "calls", \.upload.maxCallsPerHour,
        "Maximum number of calls to Engage in any hour, of events and identities, by all runs on the store; beyond it, a run waits as for a service that asks to come back later. 0 is no limit."
      ),
      .number(
        "maxTokensPerHour", 0, in: 0...100_000_000, unit: "tokens", \.upload.maxTokensPerHour,
        "The same for requests of access tokens."),
    ])

  private static let ingestRows: [Setting] = rows(
    .ingest,
    [
      .bytes(
        "maxLineBytes", 16 << 20, in: 1...(1 << 30), \.ingest.maxLineBytes,
        "Longest line; longer ones are quarantined as `line-too-long`."),
      .bytes(
        "memoryLimit", 128_000_000, in: 1 << 20...(1 << 40), \.ingest.memoryLimit,
        "Memory for sorting records; what does not fit is written to temporary files."),
      .number(
        "workers", 0, in: 0...64, unit: "threads", \.ingest.workers,
        "Threads that read lines and process devices; 0 means one per available processor. The output is the same for any number."
      ),
      .duration(
        "rewind", "4 days", \.ingest.rewind,
        "How far back late records are processed in their place, as if they had arrived in time: their devices are rewound. The store keeps records for this long. `0 seconds` disables it."
      ),
      .choice(
        "lateRecords", LateRecordPolicy.accept, \.ingest.lateRecords,
        "What to do with records older than what an earlier run processed of their device, beyond the reach of `rewind`: process by their own time, or quarantine."
      ),
      .bytes(
        "quarantineLimit", 1_000_000_000, in: 0...(1 << 50), \.ingest.quarantineLimit,
        "Size of the quarantined lines that a store keeps, including those no longer pending. Lines beyond it are counted by reason and file, but not kept."
      ),
    ])

  private static let privacyRows: [Setting] = rows(
    .privacy,
    [
      .list(
        "leaveOut", [], of: .name, \.privacy.leftOut,
        "Attributes of Engage's events that are neither stored nor sent."),
      .list(
        "mask", [], of: .name, \.privacy.masked, "Attributes of Engage's events whose values are replaced by `***`."),
      .list(
        "hash", [], of: .name, \.privacy.hashed,
        "Attributes of Engage's events whose values are replaced by their HMAC-SHA-256 with `Privacy.hashKey`, in hexadecimal: equal values stay equal."
      ),
      .secret(
        "hashKey", \.privacy.hashKey, "Key of `Privacy.hash`, at least 16 bytes."
      ).from("ENGAGE_HASH_KEY"),
    ])

  private static let reportRows: [Setting] = rows(
    .report,
    [
      Setting.choice(
        "personalData", PersonalDataPolicy.hash, \.report.personalData,
        "Ids and other personal data in reports: left out, hashed, or in the clear; `true` means `clear`, `false` means `omit`."
      )
      .reading(
        .choiceOrBoolean(PersonalDataPolicy.allCases.map(\.rawValue), whenTrue: "clear", whenFalse: "omit")),
      .choice(
        "mode", ReportMode.owner, \.report.mode,
        "Permissions of report files: `0640` lets the group read them and open their folders (0750)."),
      .secret(
        "alarm", \.report.alarm,
        "Webhook that is called when a job's runs start to fail, and when one succeeds again."
      ).from("ENGAGE_ALARM_URL"),
      .choice(
        "alarmForm", AlarmForm.json, \.report.alarmForm,
        "Form of what `Report.alarm` gets: this program's own object, or a message for Slack or Teams."),
      .list(
        "alarmCommand", [], of: .any, \.report.alarmCommand,
        "Program with arguments that gets the same as a line of JSON on stdin; it has 10 seconds."),
      .number(
        "usualRuns", 7, in: 0...365, \.report.usualRuns,
        "How many earlier good runs of the job define what is usual, once there are three; what is unusual is reported, and ends a run with `--fail-on unusual`. 0 compares nothing."
      ),
      .number(
        "usualFactor", 3, in: 1...1000, \.report.usualFactor,
        "Factor beyond the lowest or highest of these runs from which a figure is unusual."),
    ])
}
