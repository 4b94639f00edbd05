package import BatchFoundation
import BatchReport
package import BatchStore
import BatchWire

/// The error for a store that belongs to a different destination than the intended one (reference decisions 31).
package struct DestinationMismatch: RunError, Equatable, CustomStringConvertible {
  package var store: String
  package var bound: StoreDestination
  package var given: StoreDestination
  /// The command that moves the store on purpose; nil if it cannot be moved there.
  package var remedy: String?

  package var exit: RunExit { .configuration }

  package var description: String {
    "\(store.printable): error: the store belongs to \(bound), but this command is for \(given); nothing was read or sent. "
      + "Name the store of the command's destination, or a new store, with --store"
      + (remedy.map { "; to bind this store to that destination: \($0)" } ?? "")
  }
}

extension EventStore {
  /// Verifies that the store belongs to the destination, and binds the store if it belongs to none yet.
  ///
  /// - Parameter jobFile: the job file for the command that would move the store.
  /// - Throws: ``DestinationMismatch``.
  package func claim(for destination: StoreDestination, jobFile: String?) throws {
    guard let bound = try bind(to: destination) else { return }
    throw DestinationMismatch(path, bound, destination, jobFile)
  }

  /// Verifies the destination like ``claim(for:jobFile:)``, but binds nothing.
  ///
  /// - Throws: ``DestinationMismatch``.
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

extension StoreDestination {
  /// A fixed address for in-process sandboxes, whose port changes each time.
  private static let sandbox = "the sandbox"

  /// Creates the destination for a service; an address that cannot be used counts as unknown.
  ///
  /// - Parameter share: the part of the service that distinguishes one customer's data from another's.
  package init(kind: String, service address: String?, share: String?) {
    self.init(
      kind: kind, address: Self.spelled(address), share: share)
  }

  /// The same destination, but with the address of an in-process sandbox.
  package var inSandbox: StoreDestination {
    var destination = self
    destination.address = Self.sandbox
    return destination
  }

  package func inFolder(_ folder: String) -> StoreDestination {
    var destination = self
    destination.address = "the folder \(folder)"
    return destination
  }

  package var isSandbox: Bool { address == Self.sandbox }

  /// Returns the address in the spelling that calls use.
  private static func spelled(_ address: String?) -> String? {
    // Calls to the service report an invalid address.
    guard let address, let known = try? ServiceAddress(address) else { return nil }
    return known.origin + known.path
  }
}
