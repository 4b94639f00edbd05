import BatchXML

/// Finds one contact. Several columns must all match; of several contacts the service returns the oldest (spec 3.1).
package struct SelectRecipientData: XMLAPIOperation {
  package enum Key: Sendable {
    case email(String)
    case recipient(String)
    case encodedRecipient(String)
    case visitor(String)
    case columns([Column])
  }

  package var listID: String
  package var keys: [Key]
  package var returnsContactLists: Bool

  package init(listID: String, keys: [Key], returnsContactLists: Bool = false) {
    self.listID = listID
    self.keys = keys
    self.returnsContactLists = returnsContactLists
  }

  package var call: OperationCall {
    var fields: [OperationField] = [.text("LIST_ID", listID)]
    var columns: [OperationField] = []
    for key in keys {
      switch key {
      case .email(let email): fields.append(.text("EMAIL", email))
      case .recipient(let id): fields.append(.text("RECIPIENT_ID", id))
      case .encodedRecipient(let id): fields.append(.text("ENCODED_RECIPIENT_ID", id))
      case .visitor(let key): fields.append(.text("VISITOR_KEY", key))
      case .columns(let pairs): columns += OperationField.columns(pairs)
      }
    }
    if returnsContactLists { fields.append(.text("RETURN_CONTACT_LISTS", "true")) }
    return OperationCall("SelectRecipientData", fields + columns, isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> Recipient { try Recipient(result) }
}

/// A contact as the service describes it. Dates are texts in the organisation's own time zone, which no answer names.
package struct Recipient: Sendable, Equatable {
  package var id: String
  /// Empty for a contact without an address.
  package var email: String
  package var emailType: String?
  package var lastModified: String?
  package var createdFrom: String?
  package var optedIn: String?
  package var optedOut: String?
  package var resumeSendDate: String?
  package var organizationID: String?
  package var leadSource: String?
  /// In the list's order; an empty value means that there is none.
  package var columns: [Column]
  package var contactListIDs: [String]

  init(_ result: XMLAPIResult) throws(MissingField) {
    guard let id = result.recipientID, !id.isEmpty else { throw MissingField("RecipientId") }
    self.id = id
    let upper = result.text("EMAIL") ?? ""
    email = upper.isEmpty ? result.text("Email") ?? "" : upper
    emailType = result.text("EmailType")
    lastModified = result.text("LastModified")
    createdFrom = result.text("CreatedFrom")
    optedIn = result.text("OptedIn")
    optedOut = result.text("OptedOut")
    resumeSendDate = result.text("ResumeSendDate")
    organizationID = result.text("ORGANIZATION_ID")
    leadSource = result.text("CRMLeadSource")
    columns = result.columns
    contactListIDs = (result.element?.first("CONTACT_LISTS")?.all("CONTACT_LIST_ID") ?? []).map(\.text)
  }
}

/// The contact that was added or changed.
package struct RecipientReference: Sendable, Equatable {
  package var id: String
  package var organizationID: String?
  package var visitorAssociation: String?

  init(_ result: XMLAPIResult) throws(MissingField) {
    // A success without an id happens; nothing can be built on it.
    guard let id = result.recipientID, !id.isEmpty else { throw MissingField("RecipientId") }
    self.id = id
    organizationID = result.text("ORGANIZATION_ID")
    visitorAssociation = result.text("VISITOR_ASSOCIATION")
  }
}

/// Where a contact says it comes from.
package enum CreatedFrom: Int, Sendable {
  case imported = 0
  case manual = 1
  case optIn = 2
  case tracking = 3
  case doubleOptIn = 4
  case crm = 5
  case api = 6
}

/// Adds a contact. On a list without a unique key every call adds one more, unless `updateIfFound` and sync fields say which
/// one to update (spec 3.1).
package struct AddRecipient: XMLAPIOperation {
  package var listID: String
  package var columns: [Column]
  package var createdFrom: CreatedFrom?
  package var sendAutoreply: Bool?
  package var updateIfFound: Bool?
  package var allowHTML: Bool?
  package var visitorKey: String?
  package var honorOptOutStatus: Bool?
  package var contactListIDs: [String] = []
  package var syncFields: [Column] = []

  package init(listID: String, columns: [Column]) {
    self.listID = listID
    self.columns = columns
  }

  package var call: OperationCall {
    var fields: [OperationField] = [.text("LIST_ID", listID)]
    fields += OperationField.optional("CREATED_FROM", createdFrom.map { String($0.rawValue) })
    fields += OperationField.optional("SEND_AUTOREPLY", sendAutoreply)
    fields += OperationField.optional("UPDATE_IF_FOUND", updateIfFound)
    fields += OperationField.optional("ALLOW_HTML", allowHTML)
    fields += OperationField.optional("VISITOR_KEY", visitorKey)
    fields += OperationField.optional("HONOR_OPTOUT_STATUS", honorOptOutStatus)
    if !contactListIDs.isEmpty {
      fields.append(.group("CONTACT_LISTS", contactListIDs.map { .text("CONTACT_LIST_ID", $0) }))
    }
    if !syncFields.isEmpty {
      let pairs = syncFields.map {
        OperationField.group("SYNC_FIELD", [.text("NAME", $0.name), .value("VALUE", $0.value)])
      }
      fields.append(.group("SYNC_FIELDS", pairs))
    }
    fields += OperationField.columns(columns)
    return OperationCall("AddRecipient", fields, isRepeatable: updateIfFound == true && !syncFields.isEmpty)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> RecipientReference {
    try RecipientReference(result)
  }
}

/// Changes the named columns of a contact; an empty value clears one. No column at all changes nothing and is allowed.
package struct UpdateRecipient: XMLAPIOperation {
  package enum Key: Sendable {
    case recipient(String)
    case encodedRecipient(String)
    case oldEmail(String)
    case visitor(String)
  }

  package struct Snooze: Sendable {
    package enum End: Sendable {
      /// `MM/dd/yyyy`.
      case date(String)
      case days(Int)
    }

    package var isSnoozed: Bool
    package var end: End?

    package init(isSnoozed: Bool, end: End? = nil) {
      self.isSnoozed = isSnoozed
      self.end = end
    }
  }

  package var listID: String
  package var key: Key
  package var columns: [Column]
  package var createdFrom: CreatedFrom?
  package var sendAutoreply: Bool?
  package var allowHTML: Bool?
  package var snooze: Snooze?

  package init(listID: String, key: Key, columns: [Column]) {
    self.listID = listID
    self.key = key
    self.columns = columns
  }

  package var call: OperationCall {
    var fields: [OperationField] = [.text("LIST_ID", listID)]
    var visitor: String?
    switch key {
    case .recipient(let id): fields.append(.text("RECIPIENT_ID", id))
    case .encodedRecipient(let id): fields.append(.text("ENCODED_RECIPIENT_ID", id))
    case .oldEmail(let email): fields.append(.text("OLD_EMAIL", email))
    case .visitor(let key): visitor = key
    }
    fields += OperationField.optional("CREATED_FROM", createdFrom.map { String($0.rawValue) })
    fields += OperationField.optional("SEND_AUTOREPLY", sendAutoreply)
    fields += OperationField.optional("ALLOW_HTML", allowHTML)
    fields += OperationField.optional("VISITOR_KEY", visitor)
    fields += OperationField.columns(columns)
    if let snooze { fields.append(.group("SNOOZE_SETTINGS", Self.fields(snooze))) }
    return OperationCall("UpdateRecipient", fields, isRepeatable: true)
  }

  private static func fields(_ snooze: Snooze) -> [OperationField] {
    let end: [OperationField] =
      switch snooze.end {
      case .date(let date): [.text("RESUME_SEND_DATE", date)]
      case .days(let days): [.text("DAYS_TO_SNOOZE", String(days))]
      case nil: []
      }
    return [.text("SNOOZED", snooze.isSnoozed ? "true" : "false")] + end
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> RecipientReference {
    try RecipientReference(result)
  }
}

/// Opts contacts out; by address, every contact that has it.
package struct OptOutRecipient: XMLAPIOperation {
  package enum Key: Sendable {
    case email(String)
    case mailing(id: String, recipient: String, job: String)
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
      case .email(let email): [.text("EMAIL", email)]
      case .mailing(let id, let recipient, let job):
        [.text("MAILING_ID", id), .text("RECIPIENT_ID", recipient), .text("JOB_ID", job)]
      case .columns(let columns): OperationField.columns(columns)
      }
    return OperationCall("OptOutRecipient", [.text("LIST_ID", listID)] + fields, isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> Acknowledgement { Acknowledgement(result) }
}

package struct DoubleOptInRecipient: XMLAPIOperation {
  package var listID: String
  package var columns: [Column]
  package var sendAutoreply: Bool?
  package var allowHTML: Bool?

  package init(listID: String, columns: [Column]) {
    self.listID = listID
    self.columns = columns
  }

  package var call: OperationCall {
    OperationCall(
      "DoubleOptInRecipient",
      [.text("LIST_ID", listID)] + OperationField.optional("SEND_AUTOREPLY", sendAutoreply)
        + OperationField.optional("ALLOW_HTML", allowHTML) + OperationField.columns(columns),
      isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> RecipientReference {
    try RecipientReference(result)
  }
}

/// Removes every contact that matches, with its history. Cannot be undone.
package struct RemoveRecipient: XMLAPIOperation {
  package enum Key: Sendable {
    case email(String)
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
      case .email(let email): [.text("EMAIL", email)]
      case .recipient(let id): [.text("RECIPIENT_ID", id)]
      case .columns(let columns): OperationField.columns(columns)
      }
    return OperationCall("RemoveRecipient", [.text("LIST_ID", listID)] + fields, isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) throws(MissingField) -> Acknowledgement { Acknowledgement(result) }
}

/// A success that says nothing more.
package struct Acknowledgement: Sendable, Equatable {
  package var organizationID: String?

  init(_ result: XMLAPIResult) { organizationID = result.text("ORGANIZATION_ID") }
}
