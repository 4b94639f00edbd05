import BatchFoundation
import BatchWire

extension XMLAPI {
  mutating func addListColumn(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let list = try listID(call)
    let name = try call.required("COLUMN_NAME")
    let typeText = try call.required("COLUMN_TYPE")
    guard let number = Int(typeText.string), let type = ColumnType(rawValue: number) else {
      throw APIFault(id: 313, text: "Column type \(typeText) is not valid.", errorClass: "SP.ListManager")
    }
    if ["LIST_ID", "MAILING_ID", "RECIPIENT_ID", "EMAIL", "CRM Lead Source"].contains(name) {
      throw APIFault(id: 188, text: "\(name) is a system field.", errorClass: "SP.ListManager")
    }
    if organization.lists[list]?.position(of: name) != nil {
      throw APIFault(id: 161, text: "Column name \(name) is not valid for the list.", errorClass: "SP.ListManager")
    }
    let defaultValue = call.text("DEFAULT") ?? .empty
    if type.objection(to: defaultValue, zone: true) != nil {
      throw APIFault(id: 146, text: "Default value does not fit the column type.", errorClass: "SP.ListManager")
    }
    let selection = call.element.first("SELECTION_VALUES")?.all("VALUE").map { ByteText($0.text) } ?? []
    organization.lists[list]?.add(
      MarketingList.Column(name: name, type: type, defaultValue: defaultValue, selectionValues: selection))
  }

  mutating func getLists(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let visibility = try call.required("VISIBILITY")
    if visibility != "0", visibility != "1" { throw .invalidVisibility }
    let type = try call.required("LIST_TYPE")
    guard ["0", "1", "2", "5", "6", "13", "15", "18"].contains(type) else {
      throw APIFault(id: 105, text: "List type is not valid.", errorClass: "SP.ListManager")
    }
    if type == "0" || type == "2" {
      for list in organization.sortedLists where list.visibility.utf8.elementsEqual(visibility.string.utf8) {
        let optedOut = list.all.count { $0.optedOut != nil }
        listEntry(
          &xml, id: list.id, name: list.name, type: 0, size: list.count, optedOut: optedOut, modified: list.modified,
          visibility: list.visibility)
      }
    }
    if type == "15", visibility == "1" {
      for table in organization.tables.values.sorted(by: { $0.id < $1.id }) {
        listEntry(
          &xml, id: table.id, name: table.name, type: 15, size: table.rows.count, optedOut: 0, modified: nil,
          visibility: "1")
      }
    }
    if type == "18" || type == "2" {
      for list in organization.contactLists.values.sorted(by: { $0.id < $1.id })
      where list.visibility.utf8.elementsEqual(visibility.string.utf8) {
        listEntry(
          &xml, id: list.id, name: list.name, type: 18, size: list.members.count, optedOut: 0, modified: nil,
          visibility: list.visibility)
      }
    }
  }

  private func listEntry(
    _ xml: inout ResponseWriter, id: ByteText, name: ByteText, type: Int, size: Int, optedOut: Int, modified: Int64?,
    visibility: String
  ) {
    xml.group("LIST") { xml in
      figures(&xml, id: id, name: name, type: type, size: size, optedOut: optedOut, modified: modified)
      xml.element("VISIBILITY", visibility)
      xml.element("PARENT_NAME", "")
      xml.element("USER_ID", "user-1")
      xml.element("PARENT_FOLDER_ID", "0")
      xml.element("IS_FOLDER", "false")
      xml.element("FLAGGED_FOR_BACKUP", "false")
      xml.element("SUPPRESSION_LIST_ID", "0")
    }
  }

  private func figures(
    _ xml: inout ResponseWriter, id: ByteText, name: ByteText, type: Int, size: Int, optedOut: Int, modified: Int64?
  ) {
    xml.element("ID", id)
    xml.element("NAME", name)
    xml.element("TYPE", type)
    xml.element("SIZE", size)
    xml.element("NUM_OPT_OUTS", optedOut)
    xml.element("NUM_UNDELIVERABLE", "0")
    xml.element("LAST_MODIFIED", modified.map { CivilTime(Instant(milliseconds: $0)).listForm } ?? "Never")
  }

  mutating func getListMetaData(_ call: ReceivedCall, _ xml: inout ResponseWriter) throws(APIFault) {
    let id = try call.required("LIST_ID")
    if let table = organization.tables[id] {
      head(&xml, id: id, name: table.name, type: 15, size: table.rows.count, optedOut: 0, created: now, modified: now)
      xml.group("COLUMNS") { for column in table.columns { typed(&$0, column.name, .empty, column.type, []) } }
      keys(&xml, table.keyColumns)
      return
    }
    guard let list = organization.lists[try listID(call)] else { throw .unknownList(id) }
    let contactList = organization.contactLists[id]
    head(
      &xml, id: id, name: contactList?.name ?? list.name, type: contactList == nil ? 0 : 18,
      size: contactList?.members.count ?? list.count, optedOut: list.all.count { $0.optedOut != nil },
      created: list.created, modified: list.modified)
    xml.group("COLUMNS") { xml in
      for name in ["LIST_ID", "MAILING_ID", "RECIPIENT_ID", "EMAIL", "CRM Lead Source"] {
        xml.raw("<COLUMN><NAME>\(name)</NAME></COLUMN>")
      }
      for column in list.columns.dropFirst() {
        typed(&xml, column.name, column.defaultValue, column.type, column.selectionValues)
      }
    }
    keys(&xml, list.keyColumns)
    if let contactList { xml.element("PARENT_DATABASE_ID", contactList.database) }
  }

  private func head(
    _ xml: inout ResponseWriter, id: ByteText, name: ByteText, type: Int, size: Int, optedOut: Int, created: Int64,
    modified: Int64
  ) {
    figures(&xml, id: id, name: name, type: type, size: size, optedOut: optedOut, modified: modified)
    xml.element("LAST_CONFIGURED", CivilTime(Instant(milliseconds: modified)).listForm)
    xml.element("CREATED", CivilTime(Instant(milliseconds: created)).listForm)
    xml.element("VISIBILITY", "1")
    xml.element("USER_ID", "user-1")
    xml.element("ORGANIZATION_ID", Organization.id)
    let undefined: [StaticString] = [
      "OPT_IN_FORM_DEFINED", "OPT_OUT_FORM_DEFINED", "PROFILE_FORM_DEFINED", "OPT_IN_AUTOREPLY_DEFINED",
      "PROFILE_AUTOREPLY_DEFINED",
    ]
    for name in undefined { xml.element(name, "false") }
  }

  private func typed(
    _ xml: inout ResponseWriter, _ name: ByteText, _ defaultValue: ByteText, _ type: ColumnType, _ selection: [ByteText]
  ) {
    xml.group("COLUMN") { xml in
      xml.element("NAME", name)
      xml.element("DEFAULT_VALUE", defaultValue)
      xml.element("TYPE", type.rawValue)
      if !selection.isEmpty {
        xml.group("SELECTION_VALUES") { for value in selection { $0.element("VALUE", value) } }
      }
    }
  }

  private func keys(_ xml: inout ResponseWriter, _ names: [ByteText]) {
    if names.isEmpty { return xml.element("KEY_COLUMNS", "") }
    xml.group("KEY_COLUMNS") { xml in
      for name in names { xml.group("COLUMN") { $0.element("NAME", name) } }
    }
  }
}
