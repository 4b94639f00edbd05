/// How a client connects and how long it waits. Seconds may have a fraction.
package struct HTTPSettings: Sendable {
  package enum Proxy: Sendable {
    /// Straight to the service, whatever the environment says.
    case none
    /// The login is `user:password`, nil for a proxy that asks for none.
    case address(String, login: String? = nil)
    /// `https_proxy` and its kin, because the operator asked for it.
    case environment
  }

  package var connectSeconds: Double
  /// From the start of the attempt to the last byte of the answer.
  package var totalSeconds: Double
  /// Bytes a second, averaged over ``rateSeconds``; below it the attempt ends. Waiting for an answer counts. 0 for no limit.
  package var minimumRate: Int
  package var rateSeconds: Int
  /// Bytes of an answer's body.
  package var answerLimit: Int
  /// Bytes of an answer's head, interim answers included.
  package var headLimit: Int
  /// Seconds a connection may have been idle to be used again; 0 connects anew for each request.
  package var idleSeconds: Double
  /// The certificates of all authorities to trust, as PEM; nil for those of the system. See ``HTTPClient/systemAuthorities``.
  package var authorities: [UInt8]?
  package var proxy: Proxy
  package var userAgent: String

  package init(
    connectSeconds: Double, totalSeconds: Double, minimumRate: Int, rateSeconds: Int = 45, answerLimit: Int,
    headLimit: Int = 64 << 10, idleSeconds: Double, authorities: [UInt8]? = nil,
    proxy: Proxy = .none, userAgent: String = "engage-batch"
  ) {
    self.connectSeconds = connectSeconds
    self.totalSeconds = totalSeconds
    self.minimumRate = minimumRate
    self.rateSeconds = rateSeconds
    self.answerLimit = answerLimit
    self.headLimit = headLimit
    self.idleSeconds = idleSeconds
    self.authorities = authorities
    self.proxy = proxy
    self.userAgent = userAgent
  }
}

// The login is a credential, so no way of printing a proxy shows it.
extension HTTPSettings.Proxy: CustomStringConvertible, CustomReflectable {
  package var description: String {
    switch self {
    case .none: "none"
    case .address(let address, let login): login == nil ? address : "\(address) with a login"
    case .environment: "of the environment"
    }
  }
  package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .enum) }
}
