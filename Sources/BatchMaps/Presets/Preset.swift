/// Maps of exports that are widely used, each by the name of its vendor (`docs/maps.md`).
package enum Preset: String, CaseIterable, Sendable {
  case segment, rudderstack, ga4, amplitude, mixpanel, mparticle, airship, onesignal, fcm, apns

  /// The document of the map.
  package var text: String {
    switch self {
    case .segment: Self.segmentText
    case .rudderstack: Self.rudderstackText
    case .ga4: Self.ga4Text
    case .amplitude: Self.amplitudeText
    case .mixpanel: Self.mixpanelText
    case .mparticle: Self.mparticleText
    case .airship: Self.airshipText
    case .onesignal: Self.onesignalText
    case .fcm: Self.fcmText
    case .apns: Self.apnsText
    }
  }
}
