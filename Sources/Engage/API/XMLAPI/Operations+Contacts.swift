extension XMLAPIOperation<Void> {
  /// Takes every contact that has the values off the mailings of its list (reference identity 3.1).
  package static func optOut(_ columns: [Column], of list: String) -> Self {
    Self("OptOutRecipient", [.text("LIST_ID", list)] + OperationField.columns(columns), isRepeatable: true)
  }

  /// Puts a contact into a contact list; one that is in it already is a fault of its own (1018).
  package static func add(_ contact: String, toContactList list: String) -> Self {
    Self(
      "AddContactToContactList", [.text("CONTACT_LIST_ID", list), .text("CONTACT_ID", contact)], isRepeatable: true)
  }

  /// Starts a contact in a program. The service cannot be asked whether it is in it.
  package static func add(_ contact: String, toProgram program: String) -> Self {
    Self("AddContactToProgram", [.text("PROGRAM_ID", program), .text("CONTACT_ID", contact)], isRepeatable: false)
  }

  /// Deletes a contact from its list for good (reference identity 3.1).
  package static func remove(_ recipient: String, of list: String) -> Self {
    Self("RemoveRecipient", [.text("LIST_ID", list), .text("RECIPIENT_ID", recipient)], isRepeatable: true)
  }
}
