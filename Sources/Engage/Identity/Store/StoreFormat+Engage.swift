package import BatchStore
import EngageRules

extension StoreFormat {
  /// The format of a store for Engage: its events and the identity tables.
  package static let engage = StoreFormat(
    destination: "engage", wireForm: WireForm.engage, migrations: IdentitySchema.migrations,
    amendment: PublishedIdentities(), footprint: IdentitySchema.footprint, personal: PersonalIdentities(),
    collection: IdentitySchema.collection)
}
