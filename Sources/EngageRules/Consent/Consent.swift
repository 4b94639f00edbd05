/// What somebody has agreed to, by purpose; nil until they are asked (reference events 3.5).
package struct Consent: Equatable {
  package var use: Bool?
  package var export: Bool?

  package init() {}

  /// Nothing of the device goes out.
  package var isDenied: Bool { use == false || export == false }

  /// With what a record says; what it leaves out stays.
  func taking(_ said: Consent) -> Consent {
    var consent = self
    if let use = said.use { consent.use = use }
    if let export = said.export { consent.export = export }
    return consent
  }
}
