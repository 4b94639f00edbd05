import BatchConfiguration
package import BatchFoundation
import BatchIngest
import BatchPlatform
import BatchReport
import BatchStore
import DeltaDNARules
import EngageIdentity
import EngageRules

/// How an error that ended a run ends the program (reference command-line 4).
package enum RunFailure {
  package static func exit(of error: any Error) -> RunExit {
    switch error {
    case let error as StoreError: error.exit
    case is InputError: .noInput
    case is IngestFailure: .inputOutput
    case is OutputError, is ReportError: .cannotWrite
    case let error as InterruptedError: error.signal == 2 ? .interrupted : .terminated
    case is ProposalMismatch, is PlanFileError: .inputRefused
    case let failure as RemoteFailure: failure.exit
    case is ServiceSettingsError, is IdentityConfigurationError: .configuration
    case let error as ConfigurationErrors: error.exit
    case is RouteFileError, is MissingFileError, is DestinationMismatch, is BackwardRunError: .configuration
    case is DeviceStateError, is GameStateError: .configuration
    case let error as any RunError: error.exit
    default: .inputOutput
    }
  }
}
