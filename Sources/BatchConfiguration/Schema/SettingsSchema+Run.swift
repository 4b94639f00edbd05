import BatchFoundation
import BatchWire

/// Settings for the service and for how a run reads, sends and reports; phones have no such settings.
extension SettingsSchema {
  static let connectionRows = rows(
    .connection,
    .optionalText(
      "baseUrl", .endpoint, \.connection.baseURL,
      "URL of the service, such as `https://api1.ibmmarketingcloud.com`; `http` is allowed for loopback addresses only."
    ).from("ENGAGE_BASE_URL"),
    .secret("clientId", \.connection.clientId, "OAuth client id.").from("ENGAGE_CLIENT_ID"),
    .secret("secret", \.connection.clientSecret, "OAuth client secret.").from("ENGAGE_SECRET"),
    .secret("refreshToken", \.connection.refreshToken, "OAuth refresh token.").from("ENGAGE_REFRESH_TOKEN"),
    .text("oauthPath", "/oauth/token", .urlPath, \.connection.oauthPath, "Path of the token endpoint."),
    .text("xmlapiPath", "/XMLAPI", .urlPath, \.connection.xmlapiPath, "Path of the XMLAPI endpoint."),
    .text(
      "eventsPath", "/rest/events/submission", .urlPath, \.connection.eventsPath, "Path to which events are posted."),
    .text(
      "eventErrorsPath", "/rest/events/errors", .urlPath, \.connection.eventErrorsPath,
      "Path from which rejected events are read."),
    .optionalText(
      "caFile", .file, \.connection.caFile, "PEM file with certificates to trust in addition to those of the system."),
    .optionalText(
      "proxy", .proxy, \.connection.proxy,
      "HTTP proxy, such as `http://proxy.example.org:3128`. Proxy environment variables are ignored."),
    .secret("proxyCredentials", \.connection.proxyCredentials, "`user:password` for the proxy."),
    .duration(
      "connectTimeout", "10 seconds", atLeast: 1, \.connection.connectTimeout,
      "Timeout for opening a connection."),
    .duration(
      "totalTimeout", "60 seconds", atLeast: 1, \.connection.totalTimeout,
      "Timeout of a request, including the response."),
    .duration(
      "idleTimeout", "20 seconds", \.connection.idleTimeout,
      "How long an idle connection may be reused; less if the service's `Keep-Alive` specifies less, or if the service closed a connection without a response. `0 seconds` opens a new connection for each request."
    ),
    .number(
      "minimumRate", 100, in: 0...1_000_000_000, unit: "bytes per second", \.connection.minimumRate,
      "Rate below which a transfer counts as stalled; 0 disables the check."),
    .bytes(
      "maxResponseBytes", 1 << 20, in: 1024...(1 << 30), \.connection.maxResponseBytes,
      "Maximum size of a response; larger responses are truncated and count as lost."),
    .duration(
      "tokenRefreshMargin", "10 minutes", \.connection.tokenRefreshMargin,
      "Remaining lifetime at which an access token is renewed; a quarter of its full lifetime if that is longer, but never more than half."
    ))

  static let uploadRows = rows(
    .upload,
    .number(
      "maxEventsPerRequest", 100, in: 1...10_000, unit: "events", \.upload.maxEventsPerRequest,
      "Maximum number of events in a request."),
    .bytes(
      "maxBytesPerRequest", 1_000_000, in: 1...100_000_000, \.upload.maxBytesPerRequest,
      "Maximum size of a request body."),
    .number(
      "concurrency", 4, in: 1...8, unit: "requests", \.upload.concurrency,
      "Maximum number of concurrent requests, first for identities, then for events. The service allows 10 per organization; the limit here is 8."
    ),
    .choice(
      "onUnknown", UnknownOutcomePolicy.resend, \.upload.onUnknown,
      "Whether to send the events of a request again, or hold them for an operator, if the service may have accepted the request: no complete response arrived (or the run was killed), or the response was a 5xx other than 503, or a success whose body cannot come from the service."
    ),
    .duration(
      "patience", "10 minutes", \.upload.patience,
      "How long to wait for a service that temporarily refuses all calls of one kind (503, 429, `Retry-After`) before the run ends with exit code 69 and leaves the remaining events queued. `Networking.retryBudget` also limits the wait."
    ),
    .duration(
      "patienceAtStart", "30 seconds", \.upload.patienceAtStart,
      "Replaces `Upload.patience`, if shorter, until the service has accepted something in the run; the job's schedule starts another run anyway."
    ),
    .number(
      "maxCallsPerHour", 0, in: 0...100_000_000, unit: "calls", \.upload.maxCallsPerHour,
      "Maximum number of calls to Engage in any hour, for events and identities, across all runs on the store. At this limit, a run waits as it does for a service that temporarily refuses calls. 0 means no limit."
    ),
    .number(
      "maxTokensPerHour", 0, in: 0...100_000_000, unit: "tokens", \.upload.maxTokensPerHour,
      "Like `Upload.maxCallsPerHour`, but for access token requests."))

  static let ingestRows = rows(
    .ingest,
    .bytes(
      "maxLineBytes", 16 << 20, in: 1...(1 << 30), \.ingest.maxLineBytes,
      "Maximum length of a line; longer lines are quarantined as `line-too-long`."),
    .bytes(
      "memoryLimit", 96_000_000, in: 1 << 20...(1 << 40), \.ingest.memoryLimit,
      "Memory for sorting records; records that do not fit are written to temporary files."),
    .number(
      "workers", 0, in: 0...64, unit: "threads", \.ingest.workers,
      "Number of threads that read lines and process devices; 0 means one per available processor. The events are the same for any number."
    ),
    .duration(
      "rewind", "4 days", \.ingest.rewind,
      "How far back late records are processed where they belong, as if they had arrived in time, by rewinding their devices. The store keeps records for this long. `0 seconds` disables rewinding."
    ),
    .choice(
      "lateRecords", LateRecordPolicy.accept, \.ingest.lateRecords,
      "Handling of a record that is older than one that an earlier run processed for its device, and beyond the reach of `Ingest.rewind`: process it by its own time, or quarantine it."
    ),
    .bytes(
      "quarantineLimit", 1_000_000_000, in: 0...(1 << 50), \.ingest.quarantineLimit,
      "Maximum total size of the quarantined lines that a store keeps, including lines that are no longer pending. Further lines are counted by reason and file, but not kept."
    ))

  static let storageRows = rows(
    .storage,
    .optionalText(
      "endpoint", .endpoint, \.storage.endpoint,
      "URL of the S3 service for `s3://` addresses, such as `https://storage.googleapis.com`. If empty, it is taken from `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`; if these are not set either, AWS is used."
    ),
    .optionalText(
      "region", .urlSegment, \.storage.region,
      "Region of the buckets. If empty, it is taken from `AWS_REGION`, `AWS_DEFAULT_REGION` or the AWS profile; if none of these is set, it is `us-east-1`."
    ),
    .flag(
      "pathStyle", false, \.storage.usesPaths,
      "Whether requests name the bucket in the path rather than in the host, as many services other than AWS require. The path is always used if the bucket's name has a dot or the endpoint is this machine."
    ),
    .flag(
      "anonymous", false, \.storage.isAnonymous, "Whether requests are sent without credentials, to public buckets."),
    .flag(
      "requesterPays", false, \.storage.requesterPays,
      "Whether to read requester-pays buckets, at the cost of the reader."))

  static let privacyRows = rows(
    .privacy,
    .list(
      "leaveOut", of: .name, \.privacy.leftOut,
      "Attributes of Engage's events that are neither stored nor sent."),
    .list(
      "mask", of: .name, \.privacy.masked, "Attributes of Engage's events whose values are replaced by `***`."),
    .list(
      "hash", of: .name, \.privacy.hashed,
      "Attributes of Engage's events whose values are replaced by their HMAC-SHA-256 with `Privacy.hashKey`, in hexadecimal: equal values stay equal."
    ),
    .secret(
      "hashKey", \.privacy.hashKey, "Key for `Privacy.hash`, at least 16 bytes."
    ).from("ENGAGE_HASH_KEY"))

  static let reportRows = rows(
    .report,
    .init(
      "personalData",
      .choiceOrBoolean(PersonalDataPolicy.allCases.map(\.rawValue), whenTrue: "clear", whenFalse: "omit"),
      fallback: "hash", \.report.personalData,
      "Ids and other personal data in reports: omitted, hashed, or in clear text; `true` means `clear`, `false` means `omit`."
    ) { $0.string.flatMap { PersonalDataPolicy(rawValue: $0) } },
    .choice(
      "mode", ReportMode.owner, \.report.mode,
      "Permissions of report files: `0640` lets the group read them and open their folders (0750)."),
    .secret(
      "alarm", \.report.alarm,
      "Webhook that is called when a job's runs start to fail, and when one succeeds again."
    ).from("ENGAGE_ALARM_URL"),
    .choice(
      "alarmForm", AlarmForm.json, \.report.alarmForm,
      "Format of the message to `Report.alarm`: this program's own JSON object, or a message for Slack or Teams."),
    .list(
      "alarmCommand", of: .any, \.report.alarmCommand,
      "Program, with its arguments, that receives the same alarms as `Report.alarm`, each as one line of JSON on stdin; it must finish within 10 seconds."
    ),
    .number(
      "usualRuns", 7, in: 0...365, \.report.usualRuns,
      "Number of earlier successful runs of the job that define the usual figures, once there are at least three. Unusual figures are reported; with `--fail-on unusual`, they end the run. 0 disables the comparison."
    ),
    .number(
      "usualFactor", 3, in: 1...1000, \.report.usualFactor,
      "Factor by which a figure must exceed the highest value of the earlier runs (`Report.usualRuns`), or fall below the lowest, to be unusual."
    ))
}
