import BatchXML

/// Finds one contact, by its id or by columns that must all match; of several the service returns the oldest (reference identity 3.1).
package struct SelectRecipientData: XMLAPIOperation {
  package enum Key: Sendable {
    case recipient(String)
    case columns([Column])
  }

  package var listID: String
  package var key: Key

  package init(listID: String, key: Key) {
    self.listID = listID
    self.key = key
  }

  package var call: OperationCall {
    let fields: [OperationField] =
      switch key {
      case .recipient(let id): [.text("RECIPIENT_ID", id)]
      case .columns(let pairs): OperationField.columns(pairs)
      }
    return OperationCall("SelectRecipientData", [.text("LIST_ID", listID)] + fields, isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> Recipient { try Recipient(result) }
}

/// A contact as the service describes it.
package struct Recipient: Sendable, Equatable {
  package var id: String
  /// Empty for a contact without an address.
  package var email: String
  /// In the list's order; an empty value means that there is none.
  package var columns: [Column]
  package var isOptedOut: Bool

  init(_ result: XMLAPIResult) throws(MissingField) {
    guard let id = result.recipientID, !id.isEmpty else { throw MissingField("RecipientId") }
    self.id = id
    let upper = result.text("EMAIL") ?? ""
    email = upper.isEmpty ? result.text("Email") ?? "" : upper
    columns = result.columns
    isOptedOut = !(result.text("OptedOut") ?? "").isEmpty
  }
}

/// The contact that was added or changed.
package struct RecipientReference: Sendable, Equatable {
  package var id: String

  init(_ result: XMLAPIResult) throws(MissingField) {
    // A success without an id happens; nothing can be built on it.
    guard let id = result.recipientID, !id.isEmpty else { throw MissingField("RecipientId") }
    self.id = id
  }
}

/// Adds a contact, or updates the oldest one that has all of these columns already (reference identity 3.1).
package struct AddRecipient: XMLAPIOperation {
  package var listID: String
  package var columns: [Column]

  package init(listID: String, columns: [Column]) {
    self.listID = listID
    self.columns = columns
  }

  package var call: OperationCall {
    let pairs = columns.map {
      OperationField.group("SYNC_FIELD", [.text("NAME", $0.name), .value("VALUE", $0.value)])
    }
    return OperationCall(
      "AddRecipient",
      [.text("LIST_ID", listID), .text("UPDATE_IF_FOUND", "true"), .group("SYNC_FIELDS", pairs)]
        + OperationField.columns(columns),
      isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> RecipientReference {
    try RecipientReference(result)
  }
}

/// Changes the named columns of a contact; an empty value clears one. No column at all changes nothing and is allowed.
package struct UpdateRecipient: XMLAPIOperation {
  package var listID: String
  package var recipientID: String
  package var columns: [Column]

  package init(listID: String, recipientID: String, columns: [Column]) {
    self.listID = listID
    self.recipientID = recipientID
    self.columns = columns
  }

  package var call: OperationCall {
    OperationCall(
      "UpdateRecipient",
      [.text("LIST_ID", listID), .text("RECIPIENT_ID", recipientID)] + OperationField.columns(columns),
      isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> RecipientReference {
    try RecipientReference(result)
  }
}

/// Deletes a contact from its list for good (reference identity 3.1).
package struct RemoveRecipient: XMLAPIOperation {
  package var listID: String
  package var recipientID: String

  package init(listID: String, recipientID: String) {
    self.listID = listID
    self.recipientID = recipientID
  }

  package var call: OperationCall {
    OperationCall(
      "RemoveRecipient", [.text("LIST_ID", listID), .text("RECIPIENT_ID", recipientID)], isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) {}
}
