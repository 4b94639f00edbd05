extension Settings {
  /// The target of a game's events if `destination` is `unity`. All other settings are those of ``DeltaDNA``.
  package struct Unity: Sendable, Hashable {
    /// The URL up to and including the version of the API.
    package var collectURL = ""
    package var projectId: String?
    /// The name of an environment of the project, such as `production`.
    package var environment: String?
  }
}

/// Unity Analytics (reference unity 1). All other settings of a game's job are those of `DeltaDNA`.
extension SettingsSchema {
  static let unityRows = rows(
    .unity,
    .text(
      "collectUrl", "https://collect.analytics.unity3d.com/api/analytics/collect/v1", .bareEndpoint,
      \.unity.collectURL,
      "URL of the Collect API, up to and including the version."
    ).from("UNITY_COLLECT_URL"),
    .optionalText(
      "projectId", .urlSegment, \.unity.projectId, "Id of the Unity project."
    ).from("UNITY_PROJECT_ID"),
    .optionalText(
      "environment", .urlSegment, \.unity.environment,
      "Name of the project's environment, such as `production`."
    ).from("UNITY_ENVIRONMENT"))
}
