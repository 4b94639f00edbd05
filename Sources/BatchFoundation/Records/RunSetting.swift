package struct RunSetting: Sendable, Equatable, Codable {
  package var name: String
  package var value: String
  /// The layer, file and line of the value.
  package var origin: String

  package init(name: String, value: String, origin: String) {
    self.name = name
    self.value = value
    self.origin = origin
  }
}
