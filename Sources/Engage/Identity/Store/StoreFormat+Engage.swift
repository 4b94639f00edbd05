package import BatchStore
import EngageRules

extension StoreFormat {
  /// Of a store for Engage: its events, and the tables of who is who.
  package static let engage = StoreFormat(
    destination: "engage", codec: EngageEventCodec(), migrations: IdentitySchema.migrations,
    amendment: PublishedIdentities(), footprint: IdentitySchema.footprint, personal: PersonalIdentities(),
    collection: IdentitySchema.collection)
}
