import BatchWire

package enum RecipientKey: Sendable {
  case recipient(String)
  /// Columns that must all match; of several contacts the service returns the oldest (reference identity 3.1).
  case columns([Column])
}

extension XMLAPIOperation<Recipient> {
  package static func select(_ key: RecipientKey, of list: String) -> Self {
    let fields: [OperationField] =
      switch key {
      case .recipient(let id): [.text("RECIPIENT_ID", id)]
      case .columns(let pairs): OperationField.columns(pairs)
      }
    return Self("SelectRecipientData", [.text("LIST_ID", list)] + fields, isRepeatable: true, read: Recipient.init)
  }
}

package struct Recipient: Sendable, Equatable {
  package var id: String
  /// Empty for a contact without an address.
  package var email: String
  /// The columns in the list's order; an empty value means none.
  package var columns: [Column]
  package var isOptedOut: Bool

  package init(_ result: XMLAPIResult) throws(MissingField) {
    id = try result.required("RecipientId")
    let upper = result.text("EMAIL") ?? ""
    email = upper.isEmpty ? result.text("Email") ?? "" : upper
    columns = result.columns
    isOptedOut = !(result.text("OptedOut") ?? "").isEmpty
  }
}

/// Operations that return the id of the contact added or changed.
extension XMLAPIOperation<String> {
  /// Adds a contact, or updates the oldest one that already has all of these columns (reference identity 3.1).
  package static func add(_ columns: [Column], to list: String) -> Self {
    let pairs = columns.map {
      OperationField.group("SYNC_FIELD", [.text("NAME", $0.name), .value("VALUE", $0.value)])
    }
    return Self(
      "AddRecipient",
      [.text("LIST_ID", list), .text("UPDATE_IF_FOUND", "true"), .group("SYNC_FIELDS", pairs)]
        + OperationField.columns(columns), isRepeatable: true, read: Self.recipient)
  }

  /// Changes the named columns of a contact; an empty value clears a column. No columns is allowed and changes nothing.
  package static func update(_ recipient: String, of list: String, _ columns: [Column]) -> Self {
    Self(
      "UpdateRecipient",
      [.text("LIST_ID", list), .text("RECIPIENT_ID", recipient)] + OperationField.columns(columns),
      isRepeatable: true, read: Self.recipient)
  }
  private static func recipient(_ result: XMLAPIResult) throws(MissingField) -> String {
    try result.required("RecipientId")
  }
}
