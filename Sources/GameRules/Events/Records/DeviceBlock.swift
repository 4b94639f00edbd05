package import BatchFoundation

/// What a device tells of itself; empty where it told nothing.
package struct DeviceBlock {
  package var values = InlineArray<10, Text>(repeating: .empty)

  package init() {}

  package subscript(slot: DeviceSlot) -> Text {
    // A span is read in place; the array itself would be copied for one value.
    @inline(__always) get { values.span[slot.rawValue] }
    @inline(__always) set { values[slot.rawValue] = newValue }
  }
}

/// The members of `device` that the rules look at; the raw value is a place in ``DeviceBlock``.
package enum DeviceSlot: Int, CaseIterable, Sendable {
  case name, version, osName, osVersion, appVersion, manufacturer, deviceType, language, country, timezoneOffset

  @inline(__always)
  init?(_ key: Text) {
    switch key.count {
    case 4: if key == "name" { self = .name } else { return nil }
    case 6: if key == "osName" { self = .osName } else { return nil }
    case 7: if key == "version" { self = .version } else if key == "country" { self = .country } else { return nil }
    case 8: if key == "language" { self = .language } else { return nil }
    case 9: if key == "osVersion" { self = .osVersion } else { return nil }
    case 10:
      if key == "appVersion" {
        self = .appVersion
      } else if key == "deviceType" {
        self = .deviceType
      } else {
        return nil
      }
    case 12: if key == "manufacturer" { self = .manufacturer } else { return nil }
    case 14: if key == "timezoneOffset" { self = .timezoneOffset } else { return nil }
    default: return nil
    }
  }
}
