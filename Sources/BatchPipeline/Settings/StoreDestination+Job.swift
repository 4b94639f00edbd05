package import BatchConfiguration
import BatchFoundation
import BatchHTTP
import BatchReport
package import BatchStore
import Crypto

/// A store that belongs to another destination than the one it was to be used for (reference decisions 31).
package struct DestinationMismatch: Error, Equatable, CustomStringConvertible {
  package var store: String
  package var bound: StoreDestination
  package var given: StoreDestination
  /// The command that moves the store on purpose; nil where it cannot be moved there.
  package var remedy: String?

  package var description: String {
    "\(store): error: the store belongs to \(bound), and this is for \(given); nothing was read or sent. "
      + "Take the store that belongs to it, or another with --store"
      + (remedy.map { "; to move this one there: \($0)" } ?? "")
  }
}

extension StoreDestination {
  /// The address of a sandbox inside the process, whose port is another each time.
  private static let sandbox = "the sandbox"

  /// What the configuration says of the destination of a job; what it does not say stays open.
  package init(_ job: Job, _ settings: Settings, usesSandbox: Bool) {
    self.init(kind: job.destination.rawValue)
    switch job.destination {
    case .engage:
      address = Self.spelled(settings.connection.baseURL)
      list = Self.known(settings.general.listId)
    case .deltadna:
      address = Self.spelled(settings.deltaDNA.collectURL)
      // The key is a secret, and its digest tells environments apart as well.
      list = settings.deltaDNA.environmentKey.flatMap { Self.known($0.reveal()) }.map { key in
        let digest = SHA256.hash(data: Array("engage-batch environment key\n\(key)".utf8))
        return "key " + digest.prefix(8).map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
      }
    }
    if usesSandbox { address = Self.sandbox }
  }

  package var isSandbox: Bool { address == Self.sandbox }

  /// The address in the one spelling that calls use; one that cannot be used is not known.
  private static func spelled(_ address: String?) -> String? {
    // What is wrong with it is said where the service is called.
    guard let address, let known = try? ServiceAddress(address) else { return nil }
    return known.origin + known.path
  }

  private static func known(_ text: String) -> String? { text.utf8.isEmpty ? nil : text }
}

extension EventStore {
  /// Sees to it that the store belongs to the destination, and binds it there if it belongs to none yet.
  ///
  /// - Parameter jobFile: for the command that would move the store.
  /// - Throws: ``DestinationMismatch``.
  package func claim(for destination: StoreDestination, jobFile: String?) throws {
    guard let bound = try bind(to: destination) else { return }
    throw DestinationMismatch(path, bound, destination, jobFile)
  }

  /// As ``claim(for:jobFile:)``, but binds nothing.
  package func check(against destination: StoreDestination, jobFile: String?) throws {
    guard let bound = try self.destination(against: destination) else { return }
    throw DestinationMismatch(path, bound, destination, jobFile)
  }
}

extension DestinationMismatch {
  fileprivate init(_ store: String, _ bound: StoreDestination, _ given: StoreDestination, _ jobFile: String?) {
    self.init(store: store, bound: bound, given: given)
    guard let jobFile, !given.isSandbox, bound.kind.utf8.elementsEqual(given.kind.utf8) else { return }
    remedy = ShellCommand("store", "rebind", "--store", store, "--job", jobFile).text
  }
}
