import BatchJSON
import Foundation
import Testing

/// Test cases that several implementations share, as data.
struct Vector: CustomTestStringConvertible, Sendable {
  var node: JSONNode
  var id: String { node["id"]?.string ?? "" }
  var testDescription: String { id }
  subscript(key: String) -> JSONNode? { node[key] }

  /// The cases of an area and a kind.
  static func all(_ area: String, _ kind: String) -> [Vector] {
    do {
      let file = folder().appending(path: "vectors/deltadna.json")
      let root = try JSONNode.parse(Array(Data(contentsOf: file)))
      return (root["vectors"]?.array ?? []).map(Vector.init).filter {
        $0["area"]?.string == area && $0["kind"]?.string == kind
      }
    } catch {
      Issue.record("deltadna.json: \(error)")
      return []
    }
  }

  private static func folder() -> URL {
    if let path = ProcessInfo.processInfo.environment["ENGAGE_SHARED"] { return URL(filePath: path) }
    var root = URL(filePath: #filePath)
    while root.path != "/", !FileManager.default.fileExists(atPath: root.appending(path: "Package.swift").path) {
      root.deleteLastPathComponent()
    }
    return root.deletingLastPathComponent().appending(path: "shared")
  }
}
