import BatchFoundation
import BatchWire

extension XMLAPI {
  typealias Pairs = [(name: ByteText, value: ByteText)]
  typealias Values = [(position: Int, value: ByteText)]

  /// Returns the list id in LIST_ID or, if that is the id of a contact list, the id of its database.
  func listID(_ call: ReceivedCall, _ parameter: String = "LIST_ID") throws(APIFault) -> ByteText {
    let id = try call.required(parameter)
    if organization.lists[id] != nil { return id }
    if let contactList = organization.contactLists[id] { return contactList.database }
    if Int64(id.string) == nil { throw .invalidList }
    throw .unknownList(id)
  }

  /// Like ``listID(_:_:)``, but creates the list if `createsWhatIsMissing`.
  private mutating func listIDForWriting(_ call: ReceivedCall) throws(APIFault) -> ByteText {
    if createsWhatIsMissing, let id = call.text("LIST_ID"), Int64(id.string) != nil, organization.lists[id] == nil,
      organization.contactLists[id] == nil, organization.tables[id] == nil
    {
      organization.lists[id] = MarketingList(id: id, name: "Customers", columns: [], keyColumns: [], now: now)
    }
    return try listID(call)
  }

  /// Returns the values by column position. Missing columns are added or cause 1007; system columns cause 1011.
  private mutating func positioned(_ pairs: Pairs, in list: ByteText) throws(APIFault) -> Values {
    var values: Values = []
    for (name, value) in pairs {
      if ["LIST_ID", "MAILING_ID", "RECIPIENT_ID"].contains(name) {
        throw APIFault(id: 1011, text: "System column \(name) cannot be updated.", errorClass: "SP.Recipients")
      }
      if name == "OPT_OUT" || name == "EMAIL_TYPE" { continue }
      if createsWhatIsMissing, organization.lists[list]?.position(of: name) == nil {
        organization.lists[list]?.add(MarketingList.Column(name: name, type: .text))
      }
      guard let position = organization.lists[list]?.position(of: name) else { throw .unknownColumn(name) }
      values.append((position, value))
    }
    return values
  }

  private mutating func matches(_ pairs: Pairs, in list: ByteText) throws(APIFault) -> [Int64] {
    var wanted: Values = []
    for (name, value) in pairs {
      guard let position = organization.lists[list]?.position(of: name) else {
        if createsWhatIsMissing { return [] }
        throw .unknownColumn(name)
      }
      wanted.append((position, value))
    }
    return organization.lists[list]?.matches(wanted) ?? []
  }

  /// Returns RECIPIENT_ID or ENCODED_RECIPIENT_ID; nil if neither is given. Throws 124 if it is empty or not a number.
  private func recipientID(_ call: ReceivedCall) throws(APIFault) -> Int64? {
    guard let text = call.text("RECIPIENT_ID") ?? call.text("ENCODED_RECIPIENT_ID") else { return nil }
    guard let id = Int64(text.string) else { throw .invalidRecipient }
    return id
  }

  /// Returns whether the database is keyed by EMAIL alone, so that columns do not identify a recipient.
  private func isKeyedByEmail(_ list: ByteText) -> Bool { organization.lists[list]?.keyColumns == ["EMAIL"] }

  mutating func selectRecipientData(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let list = try listID(call)
    let isKeyedByEmail = isKeyedByEmail(list)
    var found = try addressed(call, in: list, by: isKeyedByEmail ? [] : try call.pairs())
    if let contactList = organization.contactLists[call.text("LIST_ID") ?? .empty] {
      found.removeAll { !contactList.members.contains($0) }
    }
    guard let id = found.first, let recipient = organization.lists[list]?[id] else { throw .notMember }
    let columns = organization.lists[list]?.columns ?? []
    xml.element("EMAIL", recipient.value(0))
    xml.element("Email", recipient.value(0))
    xml.element("RecipientId", recipient.id)
    xml.element("EmailType", "0")
    xml.element("LastModified", CivilTime(Instant(milliseconds: recipient.modified)).recipientForm)
    xml.element("CreatedFrom", recipient.createdFrom)
    xml.element("OptedIn", CivilTime(Instant(milliseconds: recipient.created)).recipientForm)
    xml.element("OptedOut", recipient.optedOut.map { CivilTime(Instant(milliseconds: $0)).recipientForm } ?? "")
    xml.element("ResumeSendDate", recipient.resumeSendDate)
    xml.element("ORGANIZATION_ID", Organization.id)
    xml.element("CRMLeadSource", "")
    if columns.count == 1 {
      xml.element("COLUMNS", "")
    } else {
      xml.group("COLUMNS") { xml in
        for (position, column) in columns.enumerated().dropFirst() {
          xml.column(column.name, recipient.value(position))
        }
      }
    }
    if try call.flag("RETURN_CONTACT_LISTS", fault: 51) {
      xml.group("CONTACT_LISTS") { xml in
        for contactList in organization.contactLists.values.sorted(by: { $0.id < $1.id })
        where contactList.members.contains(id) {
          xml.element("CONTACT_LIST_ID", contactList.id)
        }
      }
    }
  }

  mutating func addRecipient(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let list = try listIDForWriting(call)
    if let from = call.text("CREATED_FROM"), !from.isEmpty, !["0", "1", "2", "3", "4", "5", "6"].contains(from.string) {
      throw APIFault(id: 116, text: "CREATED_FROM is not valid.", errorClass: "SP.Recipients")
    }
    _ = try call.flag("ALLOW_HTML", fault: 117)
    _ = try call.flag("SEND_AUTOREPLY", fault: 118)
    let updates = try call.flag("UPDATE_IF_FOUND", fault: 119)
    let pairs = try call.pairs()
    let values = try positioned(pairs, in: list)
    let keys = organization.lists[list]?.keyColumns ?? []
    var existing: Int64?
    if !keys.isEmpty {
      let key = try uniqueKey(keys, of: pairs)
      existing = try matches(key, in: list).first
      if existing != nil, !updates { throw .exists }
    } else if updates, let fields = try call.syncFields, fields.contains(where: { !$0.value.isEmpty }) {
      existing = try matches(fields, in: list).first
    }
    let id: Int64
    if let existing {
      id = existing
      apply(values, pairs, to: id, in: list)
    } else {
      id = insertRecipient(values, pairs, createdFrom: call.text("CREATED_FROM") ?? "6", in: list)
    }
    for contactList in call.element.first("CONTACT_LISTS")?.all("CONTACT_LIST_ID") ?? [] {
      organization.contactLists[ByteText(contactList.text)]?.members.insert(id)
    }
    xml.element("RecipientId", id)
    if let visitor = call.text("VISITOR_KEY"), !visitor.isEmpty { xml.element("VISITOR_ASSOCIATION", "TRUE") }
    xml.element("ORGANIZATION_ID", Organization.id)
  }

  /// Returns the key columns with their values; throws 121 if EMAIL is missing, 211 if a different key column is.
  private func uniqueKey(_ keys: [ByteText], of pairs: Pairs) throws(APIFault) -> Pairs {
    var key: Pairs = []
    for name in keys {
      let value = pairs.last { $0.name == name || (name == "EMAIL" && $0.name == "Email") }?.value ?? .empty
      if value.isEmpty {
        throw name == "EMAIL"
          ? .noEmail : APIFault(id: 211, text: "Unique key column values are missing.", errorClass: "SP.Recipients")
      }
      key.append((name, value))
    }
    return key
  }

  mutating func insertRecipient(
    _ values: Values, _ pairs: Pairs, createdFrom: ByteText, in list: ByteText
  ) -> Int64 {
    let id = organization.nextRecipientID
    organization.nextRecipientID += 1
    let defaults = organization.lists[list]?.columns.map(\.defaultValue) ?? []
    let recipient = MarketingList.Recipient(
      id: id, values: defaults, createdFrom: createdFrom, created: now, modified: now)
    organization.lists[list]?.insert(recipient)
    apply(values, pairs, to: id, in: list)
    return id
  }

  private mutating func apply(
    _ values: Values, _ pairs: Pairs, to id: Int64, in list: ByteText
  ) {
    let time = now
    let optOut = pairs.last { $0.name == "OPT_OUT" }.map { $0.value.string.lowercased() == "true" }
    organization.lists[list]?.update(id, values) { recipient in
      if !values.isEmpty || optOut != nil { recipient.modified = time }
      if let optOut { recipient.optedOut = optOut ? time : nil }
    }
  }

  mutating func updateRecipient(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let list = try listIDForWriting(call)
    let pairs = try call.pairs()
    let keys = organization.lists[list]?.keyColumns ?? []
    let target: Int64
    if let id = try recipientID(call) {
      guard organization.lists[list]?[id] != nil else {
        throw switches.unknownRecipientFault == 128
          ? .notMember : .unknownRecipient(switches.unknownRecipientFault)
      }
      target = id
      try refuseTakenKey(keys, pairs, target: id, in: list)
    } else {
      var lookup: Pairs
      if let email = call.text("OLD_EMAIL"), !email.isEmpty {
        lookup = [("EMAIL", email)]
        if keys.contains("EMAIL"), let fresh = pairs.last(where: { $0.name == "EMAIL" || $0.name == "Email" })?.value,
          fresh != email
        {
          throw APIFault(
            id: 326, text: "EMAIL is part of the unique key and cannot be updated.", errorClass: "SP.Recipients")
        }
      } else if !keys.isEmpty {
        lookup = pairs.filter { keys.contains($0.name) }
        if lookup.count < keys.count { throw .missingKey }
      } else if let fields = try call.syncFields, !fields.isEmpty {
        lookup = fields
      } else {
        throw .missingKey
      }
      if let found = try matches(lookup, in: list).first {
        target = found
      } else if call.text("OLD_EMAIL") != nil {
        let all = lookup.filter { known in !pairs.contains { $0.name == known.name } } + pairs
        target = insertRecipient(try positioned(all, in: list), all, createdFrom: "6", in: list)
      } else {
        throw .unknownRecipient()
      }
    }
    apply(try positioned(pairs, in: list), pairs, to: target, in: list)
    if let snooze = call.element.first("SNOOZE_SETTINGS") {
      let until = ByteText(snooze.first("RESUME_SEND_DATE")?.text ?? "")
      organization.lists[list]?.update(target, []) { $0.resumeSendDate = until }
    }
    xml.element("RecipientId", target)
    xml.element("ORGANIZATION_ID", Organization.id)
  }

  /// Throws if a change would give the target a unique key that another recipient already has.
  private mutating func refuseTakenKey(
    _ keys: [ByteText], _ pairs: Pairs, target: Int64, in list: ByteText
  ) throws(APIFault) {
    guard pairs.contains(where: { keys.contains($0.name) }), let recipient = organization.lists[list]?[target] else {
      return
    }
    var key: Pairs = []
    for name in keys {
      let position = organization.lists[list]?.position(of: name) ?? 0
      key.append((name, pairs.last { $0.name == name }?.value ?? recipient.value(position)))
    }
    if key.allSatisfy({ !$0.value.isEmpty }), try matches(key, in: list).contains(where: { $0 != target }) {
      throw .exists
    }
  }

  mutating func optOutRecipient(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let list = try listID(call)
    let time = now
    for id in try addressed(call, in: list) { organization.lists[list]?.update(id, []) { $0.optedOut = time } }
    xml.element("ORGANIZATION_ID", Organization.id)
  }

  mutating func doubleOptInRecipient(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let list = try listIDForWriting(call)
    let pairs = try call.pairs()
    guard let email = pairs.last(where: { $0.name == "EMAIL" })?.value, !email.isEmpty else { throw .noEmail }
    let values = try positioned(pairs, in: list)
    let id: Int64
    if let known = try matches([("EMAIL", email)], in: list).first {
      id = known
      apply(values, pairs, to: id, in: list)
      organization.lists[list]?.update(id, []) { $0.optedOut = nil }
    } else {
      id = insertRecipient(values, pairs, createdFrom: "4", in: list)
    }
    xml.element("RecipientId", id)
    xml.element("ORGANIZATION_ID", Organization.id)
  }

  mutating func removeRecipient(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let list = try listID(call)
    for id in try addressed(call, in: list) {
      organization.lists[list]?.remove(id)
      for key in organization.contactLists.keys { organization.contactLists[key]?.members.remove(id) }
    }
    xml.element("ORGANIZATION_ID", Organization.id)
  }

  /// Returns all recipients identified by RECIPIENT_ID or, without it, by EMAIL and the columns.
  private mutating func addressed(
    _ call: ReceivedCall, in list: ByteText, by columns: @autoclosure () throws(APIFault) -> Pairs
  ) throws(APIFault) -> [Int64] {
    if let id = try recipientID(call) { return organization.lists[list]?[id] == nil ? [] : [id] }
    var pairs = try columns()
    if let email = call.text("EMAIL"), !email.isEmpty { pairs.append(("EMAIL", email)) }
    if pairs.isEmpty { throw .missingKey }
    return try matches(pairs, in: list)
  }

  /// Returns all addressed recipients; throws 128 if there are none.
  private mutating func addressed(_ call: ReceivedCall, in list: ByteText) throws(APIFault) -> [Int64] {
    let found = try addressed(call, in: list, by: try call.pairs())
    if found.isEmpty { throw .notMember }
    return found
  }

  mutating func addContactToContactList(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let id = try call.required("CONTACT_LIST_ID")
    guard let contactList = organization.contactLists[id] else { throw .unknownList(id) }
    let contact: Int64
    if let text = call.text("CONTACT_ID"), !text.isEmpty {
      guard let number = Int64(text.string) else { throw .invalidRecipient }
      guard organization.lists[contactList.database]?[number] != nil else { throw .notInList }
      contact = number
    } else {
      let found = try matches(try call.pairs(), in: contactList.database)
      guard let first = found.first else { throw .notMember }
      if found.count > 1 {
        throw APIFault(id: 1004, text: "More than one recipient matches.", errorClass: "SP.Recipients")
      }
      contact = first
    }
    guard organization.contactLists[id]?.members.insert(contact).inserted == true else {
      throw APIFault(id: 1018, text: "Contact is already in the contact list.", errorClass: "SP.Recipients")
    }
  }

  mutating func createContactList(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let database = try listID(call, "DATABASE_ID")
    let name = try call.required("CONTACT_LIST_NAME")
    let visibility = try call.required("VISIBILITY")
    if visibility != "0", visibility != "1" { throw .invalidVisibility }
    if organization.contactLists.values.contains(where: { $0.name == name }) { throw .nameTaken }
    let id = organization.takeObjectID()
    organization.contactLists[id] = Organization.ContactList(
      id: id, name: name, database: database, visibility: visibility.string)
    xml.element("CONTACT_LIST_ID", id)
    xml.element("PARENT_FOLDER_ID", call.text("PARENT_FOLDER_ID") ?? "0")
  }

  mutating func addContactToProgram(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let program = try call.required("PROGRAM_ID")
    guard let contact = Int64(try call.required("CONTACT_ID").string) else { throw .invalidRecipient }
    // Program 0 behaves like an inactive one.
    if program == "0" {
      throw APIFault(id: 653, text: "The specified program status is Inactive and not accepting new contacts.")
    }
    guard organization.lists.values.contains(where: { $0[contact] != nil }) else { throw .notInList }
    organization.programs[program, default: []].insert(contact)
  }
}
