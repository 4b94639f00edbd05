import ArgumentParser

/// How a listing is printed on stdout.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json
}
