internal import CLinux

package enum Processors {
  /// How many the process may use (`taskset`, cpusets of cgroups), at least one.
  package static let available = max(Int(engage_available_processors()), 1)
}
