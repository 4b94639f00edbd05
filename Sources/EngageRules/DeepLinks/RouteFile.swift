package import BatchFoundation

/// The routes of a `MobileDeepLinkingConfig.json` in the order of the file (reference deep-links 1).
package struct RouteFile: Sendable {
  /// As the caller named the file; for messages.
  package var name: String
  package var routes: [Route]
  /// The handlers of the default route; nil if the file has none.
  package var defaultHandlers: [RouteHandler]?
  /// What was accepted but should be looked at, in the order of the file.
  package var notes: [FileNote]

  /// Whether a route's parameters count only if it lists a handler of Engage; a file that names none anywhere was written
  /// for Android, where they always count (reference deep-links 6).
  package var namesEngageHandlers: Bool {
    routes.contains { $0.handlers.contains(where: \.isEngage) } || (defaultHandlers ?? []).contains(where: \.isEngage)
  }
}

/// One route of the file. Texts are bytes, because they are compared as such.
package struct Route: Sendable {
  /// The key as it is written.
  package var key: String
  package var place: TextPlace?
  /// Nil if the key begins with `/`: then any host will do.
  package var host: [UInt8]?
  package var parts: [Part]
  package var parameters: [Parameter]
  package var handlers: [RouteHandler]

  /// What one segment of a link has to be.
  package enum Part: Sendable, Equatable {
    case literal([UInt8])
    /// Any one segment; `parameter` is the index of the declaration of the same name, if there is one.
    case placeholder(name: [UInt8], parameter: Int?)
  }

  /// An entry of `routeParameters`.
  package struct Parameter: Sendable {
    package var name: [UInt8]
    package var isRequired: Bool
    /// What the whole value has to match; nil if it may be anything.
    package var expression: LinearRegex?
    package var place: TextPlace?
  }
}

/// A name in `handlers`.
package struct RouteHandler: Sendable {
  package var name: String

  /// Whether it is one of the handlers that hand a link's parameters to Engage.
  package var isEngage: Bool {
    ["postSilverpop", "engageDefaultHandler"].contains { $0.utf8.elementsEqual(name.utf8) }
  }
}
