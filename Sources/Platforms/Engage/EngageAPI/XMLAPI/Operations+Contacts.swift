/// Takes every contact that has the values off the mailings of its list (reference identity 3.1).
package struct OptOutRecipient: XMLAPIOperation {
  package var listID: String
  package var columns: [Column]

  package init(listID: String, columns: [Column]) {
    self.listID = listID
    self.columns = columns
  }

  package var call: OperationCall {
    OperationCall(
      "OptOutRecipient", [.text("LIST_ID", listID)] + OperationField.columns(columns), isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) {}
}

/// Puts a contact into a contact list; one that is in it already is a fault of its own (1018).
package struct AddContactToContactList: XMLAPIOperation {
  package var contactListID: String
  package var contactID: String

  package init(contactListID: String, contactID: String) {
    self.contactListID = contactListID
    self.contactID = contactID
  }

  package var call: OperationCall {
    OperationCall(
      "AddContactToContactList", [.text("CONTACT_LIST_ID", contactListID), .text("CONTACT_ID", contactID)],
      isRepeatable: true)
  }

  package static func read(_ result: XMLAPIResult) {}
}

/// Starts a contact in a program. The service cannot be asked whether it is in it.
package struct AddContactToProgram: XMLAPIOperation {
  package var programID: String
  package var contactID: String

  package init(programID: String, contactID: String) {
    self.programID = programID
    self.contactID = contactID
  }

  package var call: OperationCall {
    OperationCall(
      "AddContactToProgram", [.text("PROGRAM_ID", programID), .text("CONTACT_ID", contactID)], isRepeatable: false)
  }

  package static func read(_ result: XMLAPIResult) {}
}
