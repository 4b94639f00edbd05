/// How a webhook wants to be told.
public enum AlarmForm: String, CaseIterable, Sendable {
  case json, slack, teams
}
