/// A plugin by the class name that configurations of either platform give it.
package enum AugmentationPlugin: Hashable, Sendable {
  case coordinates
  /// The address of the place: synchronous as iOS's `UBFPlacemarkAugmentationPlugin`, or not as Android's
  /// `UBFAddressAugmentationPlugin` (reference events 5.4).
  case placemark(isSynchronous: Bool)
  case locationName
  /// The tables of `Augmentation.lookupTables`.
  case lookupTables
  /// A plugin that somebody added, by its class name.
  case named(String)

  /// - Parameter className: with or without the package in front, as in `com.example.UBFAddressAugmentationPlugin`.
  package init(className: String) {
    let name = className.split(separator: ".").last.map(String.init) ?? className
    switch name {
    case "UBFCoordinatesAugmentationPlugin": self = .coordinates
    case "UBFPlacemarkAugmentationPlugin": self = .placemark(isSynchronous: true)
    case "UBFAddressAugmentationPlugin": self = .placemark(isSynchronous: false)
    case "UBFLocationNameAugmentationPlugin": self = .locationName
    case "LookupTableAugmentationPlugin": self = .lookupTables
    default: self = .named(className)
    }
  }
}
