import BatchFoundation
import BatchIngest

/// Reads transactions and their products (reference deltadna 2, deltadna-service 2.1).
extension GameRecordReader {
  mutating func readTransaction(_ object: JSONView, _ faults: inout FieldFaults) {
    fields.check(type: GameRecordType.transaction.rawValue, &faults)
    // A written product takes less than eight times its size in the record.
    var writer = unsafe ViewWriter(at: own.reserve(object.size * 8 + 1024))
    let members = unsafe writer.begin(.object)
    writer.member("transactionName", fields.text(.name))
    writer.member("transactionType", fields.text(.transactionType))
    for (field, name) in [(RecordField.received, "productsReceived" as Text), (.spent, "productsSpent")] {
      guard let products = fields[field], products.kind == .object else { continue }
      writer.key(name)
      ProductReader(field: field.name).write(products, to: &writer, &faults)
    }
    for field in GameRecordType.transactionTexts { writer.member(field.name, fields.text(field)) }
    unsafe writer.end(members)
    record.own = unsafe JSONView(at: own.start)
    record.lacksReceipt = lacksReceipt
  }

  /// Whether the record lacks what `transactionServer` needs to validate the receipt (reference deltadna-service 2.3).
  private var lacksReceipt: Bool {
    guard let server = fields[.transactionServer]?.string else { return false }
    let needed: [RecordField]
    if server == "APPLE" {
      needed = [.transactionID, .transactionReceipt]
    } else if server == "GOOGLE" {
      needed = [.transactionReceipt, .transactionReceiptSignature]
    } else if server == "AMAZON" {
      needed = [.transactionReceipt]
    } else {
      return false
    }
    return needed.contains { fields[$0] == nil }
  }
}

/// Writes products as the SDKs do, with names sorted by bytes.
private struct ProductReader {
  /// `received` or `spent`, for faults.
  var field: Text

  func write(_ product: JSONView, to writer: inout ViewWriter, _ faults: inout FieldFaults) {
    let members = unsafe writer.begin(.object)
    writeList(
      product["items"], Names(list: "items", one: "item", amount: "itemAmount", name: "itemName", type: "itemType"),
      to: &writer, &faults)
    writeRealCurrency(product["realCurrency"], to: &writer, &faults)
    writeList(
      product["virtualCurrencies"],
      Names(
        list: "virtualCurrencies", one: "virtualCurrency", amount: "virtualCurrencyAmount", name: "virtualCurrencyName",
        type: "virtualCurrencyType"), to: &writer, &faults)
    unsafe writer.end(members)
  }

  private struct Names {
    var list: Text
    var one: Text
    var amount: Text
    var name: Text
    var type: Text
  }

  private func writeList(
    _ list: JSONView?, _ names: Names, to writer: inout ViewWriter, _ faults: inout FieldFaults
  ) {
    guard let list, !list.isNull else { return }
    let place = FieldPlace(field, names.list)
    guard list.kind == .array else { return faults.wrong(place) }
    var elements = list.elements
    guard elements.next() != nil else { return }
    writer.key(names.list)
    let array = unsafe writer.begin(.array)
    for (number, element) in list.elements.enumerated() {
      let place = place.element(number)
      guard element.kind == .object else {
        faults.wrong(place)
        continue
      }
      let wrapper = unsafe writer.begin(.object)
      writer.key(names.one)
      let members = unsafe writer.begin(.object)
      if let amount = amount(of: element, at: place, isNeeded: true, &faults) {
        writer.key(names.amount)
        writer.number(amount)
      }
      writer.member(names.name, text("name", of: element, at: place, &faults))
      writer.member(names.type, text("type", of: element, at: place, &faults))
      unsafe writer.end(members)
      unsafe writer.end(wrapper)
    }
    unsafe writer.end(array)
  }

  private func writeRealCurrency(_ currency: JSONView?, to writer: inout ViewWriter, _ faults: inout FieldFaults) {
    guard let currency, !currency.isNull else { return }
    let place = FieldPlace(field, "realCurrency")
    guard currency.kind == .object else { return faults.wrong(place) }
    let type = text("type", of: currency, at: place, &faults)
    let amount = amount(of: currency, at: place, isNeeded: false, &faults)
    let value = value(of: currency, at: place, &faults)
    if has("amount", currency), has("value", currency) {
      faults.wrong(place.member("value"))
    } else if !has("amount", currency), !has("value", currency) {
      faults.missing(place.member("amount"))
    }
    guard let type else { return }
    writer.key("realCurrency")
    let members = unsafe writer.begin(.object)
    if let amount {
      writer.key("realCurrencyAmount")
      writer.number(amount)
    } else if let value {
      // For an unknown currency code, the amount is 0; validation of the event reports the code.
      if let units = Currency.digits(of: type).map({ Currency.minorUnits(value, digits: $0) }) ?? 0 {
        writer.key("realCurrencyAmount")
        Array(String(units).utf8).withText { writer.number($0) }
      } else {
        faults.wrong(place.member("value"))
      }
    }
    writer.member("realCurrencyType", type)
    unsafe writer.end(members)
  }

  private func has(_ key: Text, _ object: JSONView) -> Bool { object[key].map { !$0.isNull } ?? false }

  private func text(_ key: Text, of object: JSONView, at place: FieldPlace, _ faults: inout FieldFaults) -> Text? {
    guard let value = object[key], !value.isNull else {
      faults.missing(place.member(key))
      return nil
    }
    guard let text = value.string else {
      faults.wrong(place.member(key))
      return nil
    }
    if text.isEmpty { faults.missing(place.member(key)) }
    return text
  }

  /// Returns `amount`, a 64-bit integer, as written; nil if it is missing or wrong.
  private func amount(of object: JSONView, at place: FieldPlace, isNeeded: Bool, _ faults: inout FieldFaults) -> Text? {
    guard let value = object["amount"], !value.isNull else {
      if isNeeded { faults.missing(place.member("amount")) }
      return nil
    }
    guard let number = value.number, number.isInteger64 else {
      faults.wrong(place.member("amount"))
      return nil
    }
    return number
  }

  /// Returns `value`, a number or a string that contains one; nil if it is missing or wrong.
  private func value(of object: JSONView, at place: FieldPlace, _ faults: inout FieldFaults) -> Text? {
    guard let value = object["value"], !value.isNull else { return nil }
    if let number = value.number { return number }
    guard let text = value.string else {
      faults.wrong(place.member("value"))
      return nil
    }
    if text.isEmpty {
      faults.missing(place.member("value"))
      return nil
    }
    guard text.isJSONNumber, text.double != nil else {
      faults.wrong(place.member("value"))
      return nil
    }
    return text
  }
}
