import BatchStore
import BatchWire
import CCommit

/// What runs here: the product and the libraries it found at run time.
enum Versions {
  static let product = "0.1.0"

  /// The commit that this was built of, with `+` where more than it was built; nil where the build did not say.
  static var commit: String? {
    let commit = unsafe String(cString: engage_commit())
    return commit.isEmpty ? nil : commit
  }

  /// Name and version of each library.
  static var libraries: [(name: String, version: String)] {
    [
      ("SQLite", EventStore.libraryVersion), ("libcurl", HTTPClient.libraryVersion),
      ("libxml2", XMLDocument.libraryVersion),
    ]
  }

  /// For `--version`, a line each.
  static var text: String {
    let own = ("engage-batch", product + (commit.map { " (\($0))" } ?? ""))
    return ([own] + libraries).map { "\($0.0) \($0.1)" }.joined(separator: "\n")
  }
}
