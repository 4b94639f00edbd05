import BatchJSON
import Foundation
import Testing

@testable import EngageAPI

/// Test cases that several implementations share, as data.
enum SharedVectors {
  static func load(_ name: String) throws -> JSONNode {
    try JSONNode.parse(Array(Data(contentsOf: folder().appending(path: "vectors/\(name)"))))
  }

  static func list(_ file: String, _ key: String) -> [JSONNode] {
    do {
      return try load(file)[key]?.array ?? []
    } catch {
      Issue.record("\(file): \(error)")
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

struct Vector: CustomTestStringConvertible, Sendable {
  var node: JSONNode
  var testDescription: String { self["id"]?.string ?? "\(self["id"]?.integer ?? -1)" }
  subscript(key: String) -> JSONNode? { node[key] }

  static func all(_ key: String) -> [Vector] { SharedVectors.list("engage-xmlapi.json", key).map(Vector.init) }
}

func columns(_ node: JSONNode?) -> [Column] {
  (node?.members ?? []).map { Column($0.key, $0.value.string ?? "") }
}
