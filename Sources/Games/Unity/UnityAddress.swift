import BatchFoundation
package import BatchWire

/// Where the events of one environment of a Unity project go (reference unity 2).
package struct UnityAddress: Sendable {
  package enum Fault: Error, Equatable, Sendable {
    case endpoint(ServiceAddress.Fault)
    /// Empty, with a character that has another meaning inside a URL, or a step to another folder (`..`).
    case projectId
    case environment
  }

  /// What decides whether anybody is let in: the API takes no key.
  static let settings = "Unity.projectId, Unity.environment or Unity.collectUrl"

  package let service: ServiceAddress
  /// The path of every request.
  package let target: String

  /// - Parameters:
  ///   - endpoint: up to the version of the API; without a scheme or with `http` it is `https`, and only `http` to the loopback stays.
  ///   - environment: its name, not its id.
  package init(endpoint: String, projectId: String, environment: String) throws(Fault) {
    do {
      service = try ServiceAddress(EnvironmentAddress.secured(endpoint))
    } catch {
      throw .endpoint(error)
    }
    guard Self.isSegment(projectId) else { throw .projectId }
    guard Self.isSegment(environment) else { throw .environment }
    target = "/projects/\(projectId)/environments/\(environment)"
  }

  private static func isSegment(_ text: String) -> Bool {
    !text.isEmpty && ![".", ".."].contains(text) && text.utf8.allSatisfy { EnvironmentAddress.isUnreserved($0) }
  }
}

extension UnityAddress.Fault: CustomStringConvertible {
  package var description: String {
    let allowed =
      "is not one part of a URL's path: letters, digits, '-', '.', '_' and '~' are allowed, and not '.' or '..' alone"
    return switch self {
    case .endpoint(let fault): "Unity.collectUrl: \(fault)"
    case .projectId: "Unity.projectId \(allowed)"
    case .environment: "Unity.environment \(allowed)"
    }
  }
}
