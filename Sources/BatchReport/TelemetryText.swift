package import BatchFoundation

/// A run for OpenTelemetry: its stages as a trace and its figures as metrics, each on a line of OTLP JSON for
/// collectors.
package struct TelemetryText: Sendable {
  private let metrics: MetricsText
  private let startedAt: Instant

  package init(_ metrics: MetricsText, startedAt: Instant) {
    self.metrics = metrics
    self.startedAt = startedAt
  }

  /// The text, with a line feed after each line.
  package var text: String { [trace, gauges].map { $0.compactText(",", ": ") + "\n" }.joined() }

  /// Returns an id that depends on the run and the name, so that the same run always has the same ids.
  private func id(_ name: String, bytes: Int) -> String {
    let text = "\(metrics.job)\u{0}\(startedAt.milliseconds)\u{0}\(name)"
    return Hexadecimal.text(of: SHA256.hash(text).prefix(bytes))
  }

  private var trace: JSONNode {
    let root = id("run", bytes: 8)
    func span(_ name: String, id: String, parent: String, _ start: Instant, nanoseconds: Int64) -> JSONNode {
      [
        "traceId": .text(self.id("trace", bytes: 16)), "spanId": .text(id), "parentSpanId": .text(parent),
        "name": .text(name), "kind": 1, "startTimeUnixNano": Self.nanoseconds(start),
        "endTimeUnixNano": .text("\(start.milliseconds * 1_000_000 + nanoseconds)"),
      ]
    }
    let exit = Int(metrics.exit.rawValue)
    // 1 means success, 2 an error.
    let status: JSONNode = exit == 0 ? ["code": 1] : ["code": 2, "message": .text(metrics.exit.ending)]
    let run = span(
      "run \(metrics.job)", id: root, parent: "", startedAt,
      nanoseconds: (metrics.endedAt - startedAt).count * 1_000_000
    ).adding([
      "attributes": [attribute("job", metrics.job), attribute("exitCode", ["intValue": .text("\(exit)")])],
      "status": status,
    ])
    let stages = (metrics.report?.stages ?? []).enumerated().compactMap { number, stage in
      stage.startedAt.map {
        span(
          stage.name, id: id("stage \(number)", bytes: 8), parent: root, $0, nanoseconds: Int64(stage.seconds * 1e9))
      }
    }
    return ["resourceSpans": resource("scopeSpans", "spans", [run] + stages)]
  }

  private var gauges: JSONNode {
    let time = Self.nanoseconds(metrics.endedAt)
    let gauges = metrics.families.map { family -> JSONNode in
      let points = family.samples.map { sample -> JSONNode in
        [
          "attributes": .array(([("job", metrics.job)] + sample.labels).map { attribute($0.0, $0.1) }),
          "timeUnixNano": time, "asDouble": JSONNode(.number(sample.value)),
        ]
      }
      return [
        "name": .text(family.name), "description": .text(family.help), "gauge": ["dataPoints": .array(points)],
      ]
    }
    return ["resourceMetrics": resource("scopeMetrics", "metrics", gauges)]
  }

  private func resource(_ scopes: String, _ name: String, _ content: [JSONNode]) -> JSONNode {
    let service: JSONNode = ["attributes": .array([attribute("service.name", "engage-batch")])]
    let scope: JSONNode = ["scope": ["name": "engage-batch"], name: .array(content)]
    return .array([["resource": service, scopes: .array([scope])]])
  }

  private func attribute(_ key: String, _ value: String) -> JSONNode { attribute(key, ["stringValue": .text(value)]) }

  private func attribute(_ key: String, _ value: JSONNode) -> JSONNode { ["key": .text(key), "value": value] }

  private static func nanoseconds(_ instant: Instant) -> JSONNode { .text("\(instant.milliseconds * 1_000_000)") }
}
