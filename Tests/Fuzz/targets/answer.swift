import BatchFoundation
import Engage

extension FuzzTarget {
  /// Any body: results, or a typed fault; a success has no fault and a failure has one.
  static func answer(_ input: UnsafeBufferPointer<UInt8>) {
    let bytes = Array(input)
    if let results = try? XMLAPIAnswer.parse(bytes) {
      precondition(results.count == 1)
      for result in results {
        precondition(result.isSuccess == (result.fault == nil))
        _ = try? RecipientImage(result)
        _ = try? ListDescription(result)
        _ = result.text("JOB_STATUS")
        _ = result.rowFailures
      }
    }
    if let node = try? JSONNode.parse(bytes) { _ = EventError.list(node) }
  }
}
