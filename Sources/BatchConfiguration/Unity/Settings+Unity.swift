extension Settings {
  /// Where the events of a game go with `destination` = `unity`; what they are is told by ``DeltaDNA``, whose rules hold.
  package struct Unity: Sendable, Hashable {
    /// Up to the version of the API.
    package var collectURL = ""
    package var projectId: String?
    /// The name of an environment of the project, such as `production`.
    package var environment: String?
  }
}
