/// A credential. It never prints itself: only ``reveal()`` gives the value, where a request is built.
package struct Secret: Hashable, Sendable {
  private var value: ByteText

  package init(_ value: String) { self.value = ByteText(value) }

  package var isEmpty: Bool { value.string.utf8.isEmpty }

  /// The value itself, for the request that needs it. Not for logs, errors or reports.
  package func reveal() -> String { value.string }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// What stands in the place of a secret wherever settings are shown (reference formats 2.4).
  package static var redacted: String { "<redacted>" }

  package var description: String { Self.redacted }
  package var debugDescription: String { Self.redacted }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
