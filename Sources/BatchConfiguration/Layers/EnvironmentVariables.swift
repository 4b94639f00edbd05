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
    for setting in SettingsSchema.current.settings where readsCredentials || !setting.isCredential {
      guard let name = setting.variable else { continue }
      let text = environment[name].flatMap { $0.utf8.isEmpty ? nil : $0 }
      let file = environment[name + "_FILE"].flatMap { $0.utf8.isEmpty ? nil : $0 }
      let found = DocumentFaults(file == nil || text != nil ? name : name + "_FILE")
      defer { faults += found.all }
      if text != nil, file != nil {
        found.add(nil, "both \(name) and \(name)_FILE are set", hint: "unset one of them")
      } else if let text = text ?? file.flatMap({ contents(of: $0, for: setting, in: currentDirectory, found) }) {
        lay(Field(setting.name, .text(text), found), as: setting, .environment, directory: currentDirectory)
      }
    }
  }

  /// Returns the text of a file, without line ends after it; nil if there is none, which is a fault.
  private func contents(
    of file: String, for setting: Setting, in directory: String, _ found: DocumentFaults
  ) -> String? {
    let path = PathText.resolve(file, in: directory)
    var bytes: [UInt8]
    do {
      bytes = try RegularFile.read(path, largest: 1 << 16, takesPipes: true)
    } catch {
      found.add(nil, "the file '\(file)': \(error.reason)")
      return nil
    }
    while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.isEmpty else {
      found.add(nil, "the file '\(file)' is \(bytes.isEmpty ? "empty" : "not UTF-8 text")")
      return nil
    }
    if setting.isSecret, FileContents.isOpenToOthers(path) {
      found.add(
        nil, .warning, "other users can read the file '\(file)' with '\(setting.name)'",
        hint: "protect it with chmod 600")
    }
    return text
  }
}
