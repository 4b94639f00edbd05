package import BatchFoundation

/// A run for OpenTelemetry: its stages as a trace, its figures as metrics, each a line of OTLP in JSON as collectors read from files.
package struct TelemetryText: Sendable {
  private let metrics: MetricsText
  private let startedAt: Instant

  /// - Parameter startedAt: when the run began.
  package init(_ metrics: MetricsText, startedAt: Instant) {
    self.metrics = metrics
    self.startedAt = startedAt
  }

  /// With a line end behind each line.
  package var text: String { [trace, gauges].map { $0.text(indent: nil) + "\n" }.joined() }

  /// The name makes it unique: the same run has the same ids each time.
  private func id(_ name: String, bytes: Int) -> String {
    let text = "\(metrics.job)\u{0}\(startedAt.milliseconds)\u{0}\(name)"
    return Hexadecimal.text(of: SHA256.hash(text).prefix(bytes))
  }

  private var trace: JSONDocument {
    let root = id("run", bytes: 8)
    func span(
      _ name: String, id: String, parent: String, _ start: Instant, nanoseconds: Int64, _ more: [(String, JSONDocument)]
    ) -> JSONDocument {
      .object(
        [
          ("traceId", .string(self.id("trace", bytes: 16))), ("spanId", .string(id)), ("parentSpanId", .string(parent)),
          ("name", .string(name)), ("kind", .integer(1)), ("startTimeUnixNano", Self.nanoseconds(start)),
          ("endTimeUnixNano", .string("\(start.milliseconds * 1_000_000 + nanoseconds)")),
        ] + more)
    }
    let exit = Int(metrics.exit.rawValue)
    let run = span(
      "run \(metrics.job)", id: root, parent: "", startedAt,
      nanoseconds: (metrics.endedAt - startedAt).count * 1_000_000,
      [
        ("attributes", .array([attribute("job", .string(metrics.job)), attribute("exitCode", .integer(exit))])),
        (
          "status",
          // 1 is good, 2 an error.
          .object(
            [("code", .integer(exit == 0 ? 1 : 2))]
              + (exit == 0 ? [] : [("message", .string(Wording.ending(metrics.exit)))]))
        ),
      ])
    let stages = (metrics.report?.stages ?? []).enumerated().compactMap { number, stage in
      stage.startedAt.map {
        span(
          stage.name, id: id("stage \(number)", bytes: 8), parent: root, $0, nanoseconds: Int64(stage.seconds * 1e9), []
        )
      }
    }
    return ["resourceSpans": resource("scopeSpans", "spans", [run] + stages)]
  }

  private var gauges: JSONDocument {
    let time = Self.nanoseconds(metrics.endedAt)
    let gauges = metrics.families.map { family -> JSONDocument in
      let points = family.samples.map { sample -> JSONDocument in
        [
          "attributes": .array(([("job", metrics.job)] + sample.labels).map { attribute($0.0, .string($0.1)) }),
          "timeUnixNano": time, "asDouble": .verbatim(sample.value),
        ]
      }
      return [
        "name": .string(family.name), "description": .string(family.help), "gauge": ["dataPoints": .array(points)],
      ]
    }
    return ["resourceMetrics": resource("scopeMetrics", "metrics", gauges)]
  }

  private func resource(_ scopes: String, _ name: String, _ content: [JSONDocument]) -> JSONDocument {
    let service: JSONDocument = ["attributes": .array([attribute("service.name", .string("engage-batch"))])]
    let scope: JSONDocument = ["scope": ["name": .string("engage-batch")], name: .array(content)]
    return .array([["resource": service, scopes: .array([scope])]])
  }

  private func attribute(_ key: String, _ value: JSONDocument) -> JSONDocument {
    let typed: (String, JSONDocument) =
      if case .integer(let number) = value { ("intValue", .string("\(number)")) } else { ("stringValue", value) }
    return ["key": .string(key), "value": .object([typed])]
  }

  private static func nanoseconds(_ instant: Instant) -> JSONDocument { .string("\(instant.milliseconds * 1_000_000)") }
}
