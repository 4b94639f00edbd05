package import BatchStore
import BatchWire

extension StoreDestination {
  /// The address of a sandbox inside the process, whose port is another each time.
  private static let sandbox = "the sandbox"

  /// Of a service; an address that cannot be used is not known.
  ///
  /// - Parameter share: what tells the data of one customer from another's there.
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

  /// The same data in the files of an outbox.
  package func inFolder(_ folder: String) -> StoreDestination {
    var destination = self
    destination.address = "the folder \(folder)"
    return destination
  }

  package var isSandbox: Bool { address == Self.sandbox }

  /// The address in the one spelling that calls use.
  private static func spelled(_ address: String?) -> String? {
    // What is wrong with it is said where the service is called.
    guard let address, let known = try? ServiceAddress(address) else { return nil }
    return known.origin + known.path
  }
}
