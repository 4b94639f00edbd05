import BatchFoundation
import BatchReport
package import BatchStore
import BatchWire

extension EventStore {
  /// Verifies that the store belongs to the destination, and binds the store if it belongs to none yet.
  ///
  /// - Parameter jobFile: the job file for the command that would move the store.
  /// - Throws: ``CommandError``.
  package func claim(for destination: StoreDestination, jobFile: String?) throws {
    guard let bound = try bind(to: destination) else { return }
    throw CommandError.mismatch(path, bound, destination, jobFile)
  }

  /// Verifies the destination like ``claim(for:jobFile:)``, but binds nothing.
  ///
  /// - Throws: ``CommandError``.
  package func check(against destination: StoreDestination, jobFile: String?) throws {
    guard let bound = try self.destination(against: destination) else { return }
    throw CommandError.mismatch(path, bound, destination, jobFile)
  }
}

extension CommandError {
  /// The error for a store that belongs to a different destination than the intended one (reference decisions 31).
  fileprivate static func mismatch(
    _ store: String, _ bound: StoreDestination, _ given: StoreDestination, _ jobFile: String?
  ) -> CommandError {
    var words =
      "\(store.printable): error: the store belongs to \(bound), but this command is for \(given); nothing was read or sent. "
      + "Name the store of the command's destination, or a new store, with --store"
    if let jobFile, !given.isSandbox, bound.kind.utf8.elementsEqual(given.kind.utf8) {
      let remedy = ShellCommand("store", "rebind", "--store", store, "--job", jobFile)
      words += "; to bind this store to that destination: \(remedy.text)"
    }
    return CommandError(.configuration, words)
  }
}

extension StoreDestination {
  /// A fixed address for in-process sandboxes, whose port changes each time.
  private static let sandbox = "the sandbox"

  /// Creates the destination for a service; an address that cannot be used counts as unknown.
  ///
  /// - Parameter share: the part of the service that distinguishes one customer's data from another's.
  package init(kind: String, service address: String?, share: String?) {
    // Calls to the service report an invalid address.
    let known = address.flatMap { try? ServiceAddress($0) }
    self.init(kind: kind, address: known.map { $0.origin + $0.path }, share: share)
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
}
