import BatchHTTP
import BatchStore
import BatchXML

/// What runs here: the product and the libraries it found at run time.
enum Versions {
  static let product = "0.1.0"

  /// Name and version of each library.
  static var libraries: [(name: String, version: String)] {
    [
      ("SQLite", EventStore.libraryVersion), ("libcurl", HTTPClient.libraryVersion),
      ("libxml2", XMLDocument.libraryVersion),
    ]
  }

  /// For `--version`, a line each.
  static var text: String {
    ([("engage-batch", product)] + libraries).map { "\($0.0) \($0.1)" }.joined(separator: "\n")
  }
}
