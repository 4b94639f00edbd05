import BatchFoundation
package import BatchWire
import FoundationEssentials
import Glibc

/// A folder as a destination: every request body becomes a file of it, whole and durable or not there.
///
/// Files are numbered as they are handed over, so that sorted names are the order of the requests; behind the number a file is named by
/// its body, so a body that is written again is found there already: nothing is doubled after a kill.
package final class FileDestination: Destination {
  private let folder: String
  package let form: Int
  private let name: @Sendable ([UInt8]) -> String
  /// Nil until the folder was read.
  private let files = Guarded<Files?>(nil)

  /// - Parameters:
  ///   - folder: has to be there.
  ///   - form: as a service of the platform would take bodies.
  ///   - name: the same text for the same body, and another one for any other.
  package init(folder: String, form: Int, name: @escaping @Sendable ([UInt8]) -> String) {
    self.folder = folder
    self.form = form
    self.name = name
  }

  /// Several requests at once would end in any order.
  package var traits: DeliveryTraits { DeliveryTraits(isIdempotent: true, lanes: 1) }

  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    do throws(SystemError) {
      try write(body, as: Self.name(name(body), group: group))
      return .acknowledged
    } catch {
      return .notSent(
        CallFault(
          unsafe "cannot be written to '\(folder)': \(String(cString: strerror(error.code)))",
          stop: .unreachable(.firstFailure)))
    }
  }

  private func write(_ body: [UInt8], as name: String) throws(SystemError) {
    var known = files.withLock { $0 } ?? Files(in: folder)
    if known.names[name] == nil {
      let number = String(known.last + 1)
      let file = String(repeating: "0", count: max(0, 8 - number.utf8.count)) + number + "-" + name + ".json"
      let draft = try DraftFile(for: "\(folder)/\(file)")
      try draft.write(body)
      try draft.publish()
      known.names[name] = file
      known.last += 1
    }
    files.withLock { [known] in $0 = known }
  }

  package func abort() {}

  /// What a file is named by behind its number; a group other than 0 stands at the end, because a body does not tell it.
  package static func name(_ body: String, group: Int) -> String { group == 0 ? body : "\(body)-\(group)" }

  /// The requests that are in a folder.
  package struct Files: Sendable {
    /// Files by what they are named by behind their number. Earlier releases gave none.
    package fileprivate(set) var names: [String: String] = [:]
    /// The highest number.
    fileprivate var last = 0

    package init(in folder: String) {
      for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where file.hasSuffix(".json") {
        let stem = file.dropLast(".json".count)
        let digits = stem.prefix { ("0"..."9").contains($0) }
        if let number = Int(digits), stem.dropFirst(digits.count).first == "-" {
          last = max(last, number)
          names[String(stem.dropFirst(digits.count + 1))] = file
        } else {
          names[String(stem)] = file
        }
      }
    }
  }
}
