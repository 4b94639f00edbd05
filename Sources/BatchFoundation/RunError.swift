/// An error that says itself how a run ends for it, so that a platform's errors need no line in the core.
public protocol RunError: Error {
  var exit: RunExit { get }
}
