/// A credential. It never prints itself: only ``reveal()`` gives the value, where a request is built.
public struct Secret: Hashable, Sendable {
  private var value: ByteText

  public init(_ value: String) { self.value = ByteText(value) }

  public var isEmpty: Bool { value.string.utf8.isEmpty }

  /// The value itself, for the request that needs it. Not for logs, errors or reports.
  public func reveal() -> String { value.string }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// What stands in the place of a secret wherever settings are shown (reference formats 2.4).
  public static var redacted: String { "<redacted>" }

  public var description: String { Self.redacted }
  public var debugDescription: String { Self.redacted }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
