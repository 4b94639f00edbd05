import BatchFoundation
import BatchWire
package import EngageRules

extension XMLAPIOperation<RecipientImage> {
  /// Reads the contact with the given id, or the oldest one with all the given values (reference identity 3.1).
  package static func select(_ question: RecipientQuestion, of list: String) -> Self {
    let fields: [OperationField] =
      switch question {
      case .recipient(let id): [.text("RECIPIENT_ID", id)]
      case .columns(let pairs): OperationField.columns(pairs)
      }
    return Self("SelectRecipientData", [.text("LIST_ID", list)] + fields, isRepeatable: true, read: RecipientImage.init)
  }
}

extension RecipientImage {
  package init(_ result: XMLAPIResult) throws(MissingField) {
    let upper = result.text("EMAIL") ?? ""
    let email = upper.isEmpty ? result.text("Email") ?? "" : upper
    self.init(
      id: try result.required("RecipientId"),
      columns: (email.isEmpty ? [] : [ColumnValue("EMAIL", email)]) + result.columns)
    isOptedOut = !(result.text("OptedOut") ?? "").isEmpty
  }
}

/// Operations that return the id of the added or changed contact.
extension XMLAPIOperation<String> {
  /// Adds a contact, or updates the oldest one that already has all of these values (reference identity 3.1).
  package static func add(_ columns: [ColumnValue], to list: String) -> Self {
    let pairs = columns.map {
      OperationField.group("SYNC_FIELD", [.text("NAME", $0.name), .value("VALUE", $0.value)])
    }
    return Self(
      "AddRecipient",
      [.text("LIST_ID", list), .text("UPDATE_IF_FOUND", "true"), .group("SYNC_FIELDS", pairs)]
        + OperationField.columns(columns), isRepeatable: true, read: Self.recipient)
  }

  /// Changes the named columns of a contact; an empty value clears a column, and an empty list changes nothing.
  package static func update(_ recipient: String, of list: String, _ columns: [ColumnValue]) -> Self {
    Self(
      "UpdateRecipient",
      [.text("LIST_ID", list), .text("RECIPIENT_ID", recipient)] + OperationField.columns(columns),
      isRepeatable: true, read: Self.recipient)
  }
  private static func recipient(_ result: XMLAPIResult) throws(MissingField) -> String {
    try result.required("RecipientId")
  }
}
