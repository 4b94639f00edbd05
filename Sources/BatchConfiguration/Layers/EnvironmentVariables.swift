import BatchFoundation

/// The environment variables of settings, from the table of settings.
package enum EnvironmentVariables {
  /// The names of each variable and its setting.
  package static let all: [(name: String, setting: String)] = SettingsSchema.current.settings.compactMap { setting in
    setting.variable.map { ($0, setting.name) }
  }

  /// Returns the files named by variables, with the settings.
  static func files(_ environment: [String: String], in directory: String) -> [(setting: String, path: String)] {
    all.compactMap { name, setting in
      environment[name + "_FILE"].flatMap { $0.isEmpty ? nil : (setting, PathText.resolve($0, in: directory)) }
    }
  }
}

extension SettingLayers {
  /// Lays the environment over the present values. An empty variable counts as not set.
  ///
  /// - Parameter readsCredentials: whether variables and files with the service's credentials are read.
  mutating func lay(environment: [String: String], currentDirectory: String, readsCredentials: Bool) {
    let reader = SettingReader(directory: currentDirectory)
    for (name, key) in EnvironmentVariables.all {
      guard let setting = SettingsSchema.current.setting(named: key), readsCredentials || !setting.isCredential else {
        continue
      }
      let direct = environment[name].flatMap { $0.utf8.isEmpty ? nil : $0 }
      let file = environment[name + "_FILE"].flatMap { $0.utf8.isEmpty ? nil : $0 }
      switch (direct, file) {
      case (nil, nil): continue
      case (.some, .some):
        report(Place(name), "both \(name) and \(name)_FILE are set", hint: "unset one of them")
      case (let text?, nil):
        lay(JSONNode(.string(text)), as: setting, called: key, .environment, Place(name), reader)
      case (nil, let file?):
        lay(
          file: PathText.resolve(file, in: currentDirectory), shownAs: file, as: setting, Place(name + "_FILE"), reader)
      }
    }
  }

  private mutating func lay(
    file: String, shownAs shown: String, as setting: Setting, _ place: Place, _ reader: SettingReader
  ) {
    var bytes: [UInt8]
    do {
      bytes = try RegularFile.read(file, largest: 1 << 16, takesPipes: true)
    } catch {
      report(place, "the file '\(shown)': \(error.reason)")
      return
    }
    while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.isEmpty else {
      report(place, "the file '\(shown)' is \(bytes.isEmpty ? "empty" : "not UTF-8 text")")
      return
    }
    if setting.isSecret, FileContents.isOpenToOthers(file) {
      warn(
        place, "other users can read the file '\(shown)' with '\(setting.name)'",
        hint: "protect it with chmod 600")
    }
    lay(JSONNode(.string(text)), as: setting, called: setting.name, .environment, place, reader)
  }
}
