import BatchFoundation
import EngageRules

extension FuzzTarget {
  /// Any bytes as a route file: routes with their notes, or all faults with words.
  static func routes(_ input: UnsafeBufferPointer<UInt8>) {
    do throws(FileError) {
      for note in try RouteFile.read(Array(input), name: "routes.json").notes {
        _ = note.description
      }
    } catch {
      _ = error.description
    }
  }
}
