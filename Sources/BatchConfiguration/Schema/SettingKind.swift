package import BatchFoundation

/// What a setting accepts; checks, the JSON Schema and the reference table all follow from it.
package enum SettingKind: Sendable {
  case boolean
  case integer(ClosedRange<Int64>)
  /// An integer, or text that holds one: the platforms disagree about the type.
  case integerOrText(ClosedRange<Int64>)
  /// A number of bytes, or text with a unit such as `64 MiB` or `128 MB`.
  case byteCount(ClosedRange<Int64>)
  /// An expiration text that is a length of time.
  case duration(ClosedRange<Milliseconds>)
  case text(TextForm)
  /// One of a few words.
  case choice([String])
  /// One of a few words; `true` and `false` stand for two of them.
  case choiceOrBoolean([String], whenTrue: String, whenFalse: String)
  case list(TextForm)
  case lookupTables
  /// The name of a profile of codes, or a table of your own.
  case eventCodes

  /// The name of the type in messages and in the reference.
  package var name: String {
    switch self {
    case .boolean: "a boolean"
    case .integer: "an integer"
    case .integerOrText: "an integer, or a string that holds one"
    case .byteCount: "an integer, or a string such as '64 MiB'"
    case .duration: "a string with a duration"
    case .text, .choice: "a string"
    case .choiceOrBoolean: "a string or a boolean"
    case .list: "an array of strings"
    case .lookupTables: "an array of dictionaries"
    case .eventCodes: "a string or a dictionary"
    }
  }
}

/// What the text of a setting must look like.
package enum TextForm: Sendable, Hashable {
  case any
  /// Not empty, no control characters: the name of a column, parameter or attribute.
  case name
  /// Empty, or an absolute `https` URL without user, query and fragment; `http` only to the loopback.
  case endpoint
  /// Empty, or such a URL of any host, whose scheme may be missing, as the deltaDNA SDKs accept it.
  case bareEndpoint
  /// Empty, or the URL of an `http` proxy without user.
  case proxy
  /// The path of a URL, from its slash on.
  case urlPath
  /// Empty, or what stands between two slashes of a URL's path.
  case urlSegment
  /// Empty, or a file, relative to the file that names it.
  case file
  /// Empty, or a folder, relative to the file that names it.
  case folder
  case datePattern
  /// A host name such as `www.example.org`.
  case domain

  var isURL: Bool { self == .endpoint || self == .bareEndpoint || self == .proxy }
}
