/// An error that determines the exit code of the run that it ends, so that the core need not list platforms' errors.
public protocol RunError: Error {
  var exit: RunExit { get }
}

/// An error that only says why a command ends, because nothing handles it in any other way.
package struct CommandError: RunError, Equatable, CustomStringConvertible {
  package let exit: RunExit
  package let description: String

  package init(_ exit: RunExit, _ description: String) {
    self.exit = exit
    self.description = description
  }
}

/// An error thrown because an input cannot be read, or can no longer be read as before.
public protocol InputFailure: Error {}
