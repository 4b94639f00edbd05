import BatchFoundation
package import BatchWire
import FoundationEssentials
import Glibc

/// A folder as a destination: each request body becomes a complete and durable file, or no file. Files are numbered in
/// request order, so sorting by name restores that order. The rest of a name identifies the body, so resending a body
/// after the process was killed finds the existing file and creates no duplicate.
package final class FileDestination: Destination {
  private let folder: String
  package let form: Int
  private let name: @Sendable ([UInt8]) -> String
  /// The files; nil until the folder is read.
  private let files = Guarded<Files?>(nil)

  /// - Parameters:
  ///   - folder: an existing folder.
  ///   - form: the version of request bodies that a service of the platform would receive.
  ///   - name: returns the same string for equal bodies, and different strings for different bodies.
  package init(folder: String, form: Int, name: @escaping @Sendable ([UInt8]) -> String) {
    self.folder = folder
    self.form = form
    self.name = name
  }

  /// One lane only, because concurrent requests would be numbered in arbitrary order.
  package var traits: DeliveryTraits { DeliveryTraits(isIdempotent: true, lanes: 1) }

  package func send(_ body: [UInt8], group: Int) -> SendOutcome {
    do throws(SystemError) {
      try write(body, as: Self.name(name(body), group: group))
      return .acknowledged
    } catch {
      return .notSent(
        CallFault(
          unsafe "cannot write to '\(folder)': \(String(cString: strerror(error.code)))",
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

  /// Returns the part of a file name after the number. A group other than 0 is appended, because the body does not
  /// contain it.
  package static func name(_ body: String, group: Int) -> String { group == 0 ? body : "\(body)-\(group)" }

  /// The requests in a folder.
  package struct Files: Sendable {
    /// The file names, by the part after the number. Files from earlier releases have no number.
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
