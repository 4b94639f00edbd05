import BatchFoundation
import Glibc

/// A folder as a destination: every request body becomes a file of it, whole and durable or not there.
///
/// A file is named by its body, so a body that is written again is found there already: nothing is doubled after a kill.
package final class FileDestination: Destination {
  private let folder: String
  package let form: Int
  private let name: @Sendable ([UInt8]) -> String

  /// - Parameters:
  ///   - folder: has to be there.
  ///   - form: as a service of the platform would take bodies.
  ///   - name: the same text for the same body, and another one for any other.
  package init(folder: String, form: Int, name: @escaping @Sendable ([UInt8]) -> String) {
    self.folder = folder
    self.form = form
    self.name = name
  }

  package var traits: DeliveryTraits { DeliveryTraits(isIdempotent: true) }

  /// A group other than 0 stands behind the name, because a body does not tell it.
  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    let path = "\(folder)/\(name(body))\(group == 0 ? "" : "-\(group)").json"
    do throws(SystemError) {
      let draft = try DraftFile(for: path)
      try draft.write(body)
      try draft.publish()
      return .acknowledged
    } catch {
      if error.code == EEXIST { return .acknowledged }
      return .notSent(
        SendFault(
          unsafe "cannot be written to '\(folder)': \(String(cString: strerror(error.code)))",
          stop: .unreachable(.firstFailure)))
    }
  }

  package func abort() {}
}
