import EngageConfiguration
import EngageIngest
import EngageRules
import EngageStore

/// How an error that ended a run ends the program (contract section 4).
package enum RunFailure {
  package static func exit(of error: any Error) -> RunExit {
    switch error {
    case let error as StoreError: RunExit(rawValue: error.exitCode) ?? .inputOutput
    case is InputError, is MissingFileError: .noInput
    case is IngestFailure: .inputOutput
    case is OutputError: .cannotWrite
    case let error as ConfigurationErrors: RunExit(rawValue: error.exitCode) ?? .configuration
    case is RouteFileError: .configuration
    case is DeviceStateError: .configuration
    default: .inputOutput
    }
  }
}
