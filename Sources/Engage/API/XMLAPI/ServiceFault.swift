package import BatchFoundation

/// A failure reported by the XMLAPI: HTTP 200 with `SUCCESS` false and usually a `Fault` (reference identity 2.2).
package struct ServiceFault: Error, Sendable, Equatable {
  /// The consequence for the next step (reference identity 4).
  package enum Kind: String, Sendable {
    /// The same request will be refused again.
    case permanent
    /// Nothing was applied; back off and repeat.
    case transient
    /// The session or token has expired.
    case expired
    /// The named object does not exist, which is a valid result of a look-up and completes a removal.
    case absent
    /// The object to add already exists.
    case exists
    /// The request may have been applied: read before repeating.
    case verify
    /// Too many concurrent requests; nothing was applied.
    case throttled
  }

  /// The error id; nil if the response has none.
  package var id: Int?
  /// The part of the service that refused, such as `SP.ListManager`, which changes the meaning of two ids.
  package var faultClass: String?
  /// The service's message; it may quote the request.
  package var message: String
  /// The message without anything from the request; nil if the request is not known.
  package var words: String?
  package var kind: Kind

  package init(id: Int?, faultClass: String?, message: ServiceWords) {
    self.id = id
    self.faultClass = faultClass.map { ServiceWords($0).text }
    self.message = message.text
    kind = Self.kind(id: id, message: message.text, quoting: [])
  }

  /// The meaning of id and class in the table; nil for an unknown id.
  package var meaning: String? {
    switch (id, faultClass) {
    case (108, "SP.ListManager"): "list does not exist"
    case (140, "SP.Admin"): "login refused"
    default: id.flatMap { ServiceErrorTable.entries[$0]?.meaning }
    }
  }

  /// Returns the meaning of an id, followed by the id.
  package static func words(_ id: Int) -> String {
    "\(ServiceErrorTable.entries[id]?.meaning ?? "an unknown fault") (error \(id))"
  }

  /// Whether the kind follows from the message or, for an unknown id, from the default, rather than from the id.
  var isSentence: Bool { id.flatMap { ServiceErrorTable.entries[$0]?.kind } != kind }

  fileprivate static func kind(id: Int?, message: String, quoting sent: [UInt8]) -> Kind {
    // The message takes precedence over the id: a throttle carries an id that means something else.
    let text = ServiceText(message, quoting: sent)
    if text.saysThrottled { return .throttled }
    if text.saysExpired { return .expired }
    return id.flatMap { ServiceErrorTable.entries[$0]?.kind } ?? .permanent
  }

  /// Returns the fault with ``kind`` and ``words`` derived again, ignoring what the message quotes.
  ///
  /// - Parameter sent: The content of the request, which the message may quote.
  func quoting(_ sent: [UInt8]) -> ServiceFault {
    var fault = self
    fault.kind = Self.kind(id: id, message: message, quoting: sent)
    if !message.utf8.isEmpty { fault.words = ServiceWords.withoutValues(message, of: sent) }
    return fault
  }
}

extension ServiceFault: CustomStringConvertible {
  // Omits the message, which may contain an address or a name.
  package var description: String {
    "the service refused the request: \(meaning ?? "an unknown fault") (error \(id.map(String.init) ?? "without id"), \(kind.rawValue))"
      + (words.map { ": \($0)" } ?? "")
  }
}
