package import BatchFoundation

/// A no of the XMLAPI: HTTP 200 with `SUCCESS` false and, as a rule, a `Fault` (reference identity 2.2).
package struct ServiceFault: Error, Sendable, Equatable {
  /// What it means for the next step (reference identity 4).
  package enum Kind: String, Sendable {
    /// The same request will be refused again.
    case permanent
    /// Nothing was applied; back off and repeat.
    case transient
    /// The session or token is over.
    case expired
    /// What was named is not there: an answer to a look-up, and fine for a removal.
    case absent
    /// What was to be added is there already.
    case exists
    /// It may have been applied: read before repeating.
    case verify
    /// Too many requests at the same time; nothing was applied.
    case throttled
  }

  /// Nil if the answer names none.
  package var id: Int?
  /// The service's part that refused, such as `SP.ListManager`; two ids mean different things by it.
  package var faultClass: String?
  /// The service's words. They may quote what was sent.
  package var message: String
  /// Those without anything that was sent; nil where nobody knows what was.
  package var words: String?
  package var kind: Kind

  package init(id: Int?, faultClass: String?, message: ServiceWords) {
    self.id = id
    self.faultClass = faultClass.map { ServiceWords($0).text }
    self.message = message.text
    kind = Self.kind(id: id, message: message.text, quoting: [])
  }

  /// The table's meaning of the id, read with the class; nil for an id that no table has.
  package var meaning: String? {
    switch (id, faultClass) {
    case (108, "SP.ListManager"): "list does not exist"
    case (140, "SP.Admin"): "login refused"
    default: id.flatMap { ServiceErrorTable.entry($0)?.meaning }
    }
  }

  /// What an id means, with the id.
  package static func words(_ id: Int) -> String {
    "\(ServiceErrorTable.entry(id)?.meaning ?? "a fault of unknown meaning") (error \(id))"
  }

  /// Whether its words alone say what kind it is of.
  var isSentence: Bool { id.flatMap { ServiceErrorTable.entry($0)?.kind } != kind }

  fileprivate static func kind(id: Int?, message: String, quoting sent: [UInt8]) -> Kind {
    // Words before numbers: the throttle comes with an id that means something else.
    let text = ServiceText(message, quoting: sent)
    if text.saysThrottled { return .throttled }
    if text.saysExpired { return .expired }
    return id.flatMap { ServiceErrorTable.entry($0)?.kind } ?? .permanent
  }
}

extension ServiceFault {
  /// - Parameter sent: what the request said, which the words may quote.
  func quoting(_ sent: [UInt8]) -> ServiceFault {
    var fault = self
    fault.kind = Self.kind(id: id, message: message, quoting: sent)
    if !message.utf8.isEmpty { fault.words = ServiceWords.withoutValues(message, of: sent) }
    return fault
  }
}

extension ServiceFault: CustomStringConvertible {
  // Not the message, which may hold an address or a name.
  package var description: String {
    "the service refused: \(meaning ?? "a fault of unknown meaning") (error \(id.map(String.init) ?? "without id"), \(kind.rawValue))"
      + (words.map { ": \($0)" } ?? "")
  }
}
