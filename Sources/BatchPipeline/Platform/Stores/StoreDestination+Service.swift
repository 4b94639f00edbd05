package import BatchStore
import BatchWire

extension StoreDestination {
  /// The address of a sandbox inside the process, whose port changes each time.
  private static let sandbox = "the sandbox"

  /// Creates the destination of a service; an address that cannot be used counts as unknown.
  ///
  /// - Parameter share: distinguishes the data of one customer from another's there.
  package init(kind: String, service address: String?, share: String?) {
    self.init(
      kind: kind, address: Self.spelled(address), share: share)
  }

  /// The same data at a sandbox inside the process.
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
    // A call of the service reports what is wrong with it.
    guard let address, let known = try? ServiceAddress(address) else { return nil }
    return known.origin + known.path
  }
}
