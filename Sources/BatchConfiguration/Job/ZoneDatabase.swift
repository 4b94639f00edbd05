package import BatchFoundation

/// The time zone database of the machine: a folder with a file for each zone.
package struct ZoneDatabase: Sendable {
  /// Why there is no such zone.
  package enum Failure: Error, Equatable {
    case unknown
    /// There is a file of this name, but not of the form of RFC 9636.
    case damaged
    /// There is no database at all.
    case missing
  }

  let folder: String

  /// - Parameter environment: `TZDIR` names another folder, as for every program of the machine.
  package init(environment: [String: String]) { folder = environment["TZDIR"] ?? "/usr/share/zoneinfo" }

  /// - Parameter name: such as `Europe/London`; `UTC` is known without a database.
  package func zone(_ name: String) throws(Failure) -> Zone {
    if name == "UTC" { return .utc }
    guard name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({ Self.isName($0) }) else {
      throw .unknown
    }
    let bytes: [UInt8]
    do {
      bytes = try RegularFile.read("\(folder)/\(name)", largest: 1 << 20)
    } catch {
      throw FileContents.isReadable(folder) ? .unknown : .missing
    }
    guard let zone = Zone(name: name, tzif: bytes) else {
      throw bytes.starts(with: "TZif".utf8) ? .damaged : .unknown
    }
    return zone
  }

  /// No dot, so that nothing outside the folder has a name.
  private static func isName(_ part: Substring) -> Bool {
    !part.isEmpty
      && part.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || "_+-".utf8.contains(byte)
      }
  }
}
