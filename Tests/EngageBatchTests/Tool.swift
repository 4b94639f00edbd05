import FoundationEssentials
import Testing

/// A program that only some tests need and that `make setup` does not install.
///
/// Tests of a missing tool are skipped, unless `ENGAGE_REQUIRED_TOOLS` names it, as the workflows do for what they install:
/// there they run, and fail.
enum Tool: String {
  case browser, dpkg, duckdb, python3, systemd

  /// The command that starts the tool; nil if it is not installed.
  var command: String? { Self.commands[self] }

  /// Writes a script that passes its arguments to the tool, and returns its path.
  func script(in workspace: Workspace) throws -> String {
    let name = "bin/\(rawValue)"
    try workspace.write(name, "#!/bin/sh\nexec \(#require(command))\n")
    #expect(try workspace.shell("chmod +x \(name)").code == 0)
    return "\(workspace.path)/\(name)"
  }

  private static let commands: [Tool: String] = {
    func first(_ paths: String...) -> String? { paths.first { FileManager.default.isExecutableFile(atPath: $0) } }
    let found: [Tool: String?] = [
      .browser: first("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"),
      .dpkg: first("/usr/bin/dpkg-deb"), .duckdb: duckDB, .python3: first("/usr/bin/python3"),
      .systemd: first("/usr/bin/systemd-analyze"),
    ]
    return found.compactMapValues { $0 }
  }()

  /// DuckDB's own program, or a command that passes its statement to the module of Python.
  private static let duckDB: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let programs =
      folders.map { "'\($0)/duckdb' \"$@\"" }
      + folders.map { "'\($0)/python3' -c 'import sys, duckdb; duckdb.sql(sys.argv[1])' \"$2\"" }
    // Without a folder for temporary files no test runs.
    guard let workspace = try? Workspace([]) else { return nil }
    return programs.first { (try? workspace.shell("set -- -c 'SELECT 1'; \($0)").code) == 0 }
  }()

  fileprivate var isRequired: Bool {
    (ProcessInfo.processInfo.environment["ENGAGE_REQUIRED_TOOLS"] ?? "").split(separator: " ").contains {
      $0 == rawValue
    }
  }
}

extension Trait where Self == ConditionTrait {
  static func needs(_ tool: Tool) -> Self {
    .enabled(if: tool.command != nil || tool.isRequired, "\(tool.rawValue) is not installed")
  }
}
