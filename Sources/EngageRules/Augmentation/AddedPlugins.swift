/// Plug-ins that were added to the program, by the class name that `Augmentation.augmentationPluginClasses` gives them.
///
/// To add one, conform a type to ``AugmentationPlugin`` in this folder and name it here; ``LookupTablePlugin`` is an example
/// of one that needs no samples, ``CoordinatesPlugin`` of one that does.
package enum AddedPlugins {
  package static let byClassName: [String: any AugmentationPlugin] = [:]
}
