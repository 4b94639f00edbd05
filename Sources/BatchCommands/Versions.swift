import BatchStore
import BatchWire
import CCommit

/// The versions of the product and of the libraries found at run time.
enum Versions {
  static let product = "0.1.0"

  /// The commit of the build, with `+` for uncommitted changes; nil if the build did not record it.
  static var commit: String? {
    let commit = unsafe String(cString: engage_commit())
    return commit.isEmpty ? nil : commit
  }

  /// The name and version of each library.
  static var libraries: [(name: String, version: String)] {
    [
      ("SQLite", EventStore.libraryVersion), ("libcurl", HTTPClient.libraryVersion),
      ("libxml2", XMLDocument.libraryVersion),
    ]
  }

  /// The output of `--version`, one line each.
  static var text: String {
    let own = ("engage-batch", product + (commit.map { " (\($0))" } ?? ""))
    return ([own] + libraries).map { "\($0.0) \($0.1)" }.joined(separator: "\n")
  }
}
