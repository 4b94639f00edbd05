public import ArgumentParser
package import BatchFoundation

extension Instant: ExpressibleByArgument {
  /// A time on the command line: RFC 3339 only.
  package init?(argument: String) {
    guard let instant = Instant.parse(rfc3339: argument) else { return nil }
    self = instant
  }
}
