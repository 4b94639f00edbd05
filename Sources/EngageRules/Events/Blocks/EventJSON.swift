package import BatchFoundation

/// An event in the form of the wire and of `--events-out` (reference formats 4.2).
package enum EventJSON {
  static let beforeCode: Text = "{\"eventTypeCode\":\""
  static let beforeTimestamp: Text = "\",\"eventTimestamp\":\""
  static let beforeAttributes: Text = "\",\"attributes\":["
  static let beforeContact: Text = "\",\"contactId\":"
  static let afterContact: Text = ",\"attributes\":["
  static let beforeName: Text = "{\"name\":\""
  static let beforeValue: Text = "\",\"value\":\""
  static let afterValue: Text = "\"}"
  static let afterAttributes: Text = "]}"

  /// Bytes around the name and the value of one attribute, the comma behind it included.
  static let attributeBytes = 23
  /// Bytes of an event besides its code and its attributes; the last attribute has no comma.
  static let eventBytes = 18 + 20 + 24 + 16 + 2 - 1

  static let bodyStart: Text = "{\"events\":["
  static let bodyEnd: Text = "]}"

  /// Appends one event without a line end.
  package static func append(_ event: Event, to target: inout ByteBuffer) {
    append(event.code, event.timestamp, event.wireAttributes, to: &target)
  }

  /// Appends an event of these attributes, in their order, without a line end.
  package static func append(
    _ code: Text, _ timestamp: Instant, _ attributes: [Attribute], to target: inout ByteBuffer
  ) {
    target.append(beforeCode)
    CanonicalJSON.appendEscaped(code, to: &target)
    target.append(beforeTimestamp)
    unsafe target.append(limit: 24) { bytes in
      unsafe timestamp.write(to: bytes)
      return 24
    }
    target.append(beforeAttributes)
    for (index, attribute) in attributes.enumerated() {
      if index > 0 { target.append(UInt8(ascii: ",")) }
      target.append(beforeName)
      CanonicalJSON.appendEscaped(attribute.name, to: &target)
      target.append(beforeValue)
      CanonicalJSON.appendEscaped(attribute.value, to: &target)
      target.append(afterValue)
    }
    target.append(afterAttributes)
  }
}
