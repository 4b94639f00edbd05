import BatchConfiguration
package import BatchFoundation
import BatchIngest
import BatchReport
import BatchStore

/// The exit of the program for an error that ended a run (reference command-line 4).
package enum RunFailure {
  package static func exit(of error: any Error) -> RunExit {
    switch error {
    case let error as any RunError: error.exit
    case let error as StoreError: error.exit
    case is InputError: .noInput
    case is ReportError: .cannotWrite
    case let error as ConfigurationErrors: error.exit
    default: .inputOutput
    }
  }
}
