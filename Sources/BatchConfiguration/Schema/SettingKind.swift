package import BatchFoundation

/// The type of a setting, from which validation, the JSON Schema and the reference table are derived.
package enum SettingKind: Sendable {
  case boolean
  case integer(ClosedRange<Int64>)
  /// An integer, or a string that contains one: the platforms disagree about the type.
  case integerOrText(ClosedRange<Int64>)
  /// A number of bytes, or a string with a unit such as `64 MiB` or `128 MB`.
  case byteCount(ClosedRange<Int64>)
  /// A length of time, written like the expiration of a campaign.
  case duration(ClosedRange<Milliseconds>)
  case text(TextKind)
  case choice([String])
  /// One of several words, two of which may be given as `true` and `false`.
  case choiceOrBoolean([String], whenTrue: String, whenFalse: String)
  case list(TextKind)
  case lookupTables
  /// The name of a profile of codes, or a custom table.
  case eventCodes

  /// The name of the type in messages and in `config explain`.
  package var name: String {
    switch self {
    case .boolean: "a boolean"
    case .integer: "an integer"
    case .integerOrText: "an integer, or a string that contains one"
    case .byteCount: "an integer, or a string such as '64 MiB'"
    case .duration: "a string with a duration"
    case .text, .choice: "a string"
    case .choiceOrBoolean: "a string or a boolean"
    case .list: "an array of strings"
    case .lookupTables: "an array of objects"
    case .eventCodes: "a string or an object"
    }
  }
}

/// The required format of a text setting.
package enum TextKind: Sendable, Hashable {
  case any
  /// The name of a column, parameter or attribute: not empty, without control characters.
  case name
  /// Empty, or an absolute `https` URL without user, query or fragment; `http` only for loopback addresses.
  case endpoint
  /// Empty, or a URL like ``endpoint``, but `http` is accepted for any host and the scheme is optional, as in the
  /// deltaDNA SDKs.
  case bareEndpoint
  /// Empty, or the URL of an `http` proxy, without a user.
  case proxy
  /// The path of a URL, starting with its slash.
  case urlPath
  /// Empty, or one segment of a URL's path.
  case urlSegment
  /// Empty, or the path of a file, relative to the file that contains the setting.
  case file
  /// Empty, or the path of a folder, relative to the file that contains the setting.
  case folder
  case datePattern
  /// A host name such as `www.example.org`, optionally with `*.` before it.
  case domain

  var isURL: Bool { self == .endpoint || self == .bareEndpoint || self == .proxy }
}
