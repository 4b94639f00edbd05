import BatchConfiguration
package import BatchFoundation
package import BatchIngest
package import BatchStore
package import BatchWire

extension RequestLimits {
  /// `Upload` as the schema has it, where a test does not say otherwise.
  package static func test(maxEvents: Int? = nil, maxBodyBytes: Int? = nil) -> RequestLimits {
    let upload = Settings.defaults.upload
    return RequestLimits(
      maxEvents: maxEvents ?? upload.maxEventsPerRequest, maxBodyBytes: maxBodyBytes ?? upload.maxBytesPerRequest)
  }
}

extension InputFiles {
  /// Finds the files that match the patterns; a pattern need not match any.
  package static func find(_ patterns: [InputKind: [String]], in folder: String) throws -> InputFiles {
    try find(
      InputKind.allCases.flatMap { kind in (patterns[kind] ?? []).map { InputPattern(kind, $0) } }, in: folder)
  }
}

extension IngestOptions {
  /// `Ingest` as the schema has it.
  package static func test(temporaryFolder: String) -> IngestOptions {
    let ingest = Settings.defaults.ingest
    return IngestOptions(
      maxLineBytes: ingest.maxLineBytes, memoryLimit: ingest.memoryLimit, workers: 2,
      temporaryFolder: temporaryFolder)
  }
}

extension HTTPSettings {
  /// `Connection` as the schema has it, where a test does not say otherwise.
  package static func test(
    totalSeconds: Double? = nil, minimumRate: Int? = nil, rateSeconds: Int? = nil, idleSeconds: Double? = nil,
    authorities: [UInt8]? = nil, proxy: Proxy = .none
  ) -> HTTPSettings {
    let connection = Settings.defaults.connection
    var settings = HTTPSettings(
      connectSeconds: Double(connection.connectTimeout.count) / 1000,
      totalSeconds: totalSeconds ?? Double(connection.totalTimeout.count) / 1000,
      minimumRate: minimumRate ?? connection.minimumRate, answerLimit: connection.maxResponseBytes,
      idleSeconds: idleSeconds ?? Double(connection.idleTimeout.count) / 1000, authorities: authorities, proxy: proxy)
    if let rateSeconds { settings.rateSeconds = rateSeconds }
    return settings
  }
}
