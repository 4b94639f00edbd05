package import BatchFoundation

extension RunExit {
  /// How a run with this exit code ended (reference command-line 4).
  package var ending: String {
    switch self {
    case .done: "done"
    case .usage: "wrong usage"
    case .inputRefused: "the input was refused"
    case .noInput: "no input"
    case .serviceUnavailable: "the service could not be reached or kept failing"
    case .cannotWrite: "an output could not be written"
    case .inputOutput: "reading or writing failed"
    case .storeIsHeld: "another run holds the store"
    case .protocolRefused:
      "TLS or protocol error, a request that the service refused for good, or one with an unknown outcome; manual action is required"
    case .credentialsRefused: "credentials were refused"
    case .configuration: "configuration error"
    case .interrupted: "interrupted"
    case .terminated: "terminated"
    }
  }
}

extension Double {
  /// A number of seconds in words, rounded to whole milliseconds.
  var inSeconds: String {
    guard isFinite, self >= 0, self < 1e12 else { return "?" }
    let milliseconds = Int((self * 1000).rounded())
    let rest = String(milliseconds % 1000)
    return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest) s"
  }
}

extension Int {
  /// The count in words, such as `1,200` or `2 fewer`; late records can make it negative.
  package var orFewer: String { self < 0 ? "\((-self).grouped) fewer" : grouped }

  /// Returns the count with its noun, such as `1 session` and `2 fewer sessions`; a nil `plural` adds an `s`.
  package func countedOrFewer(_ one: String, _ plural: String? = nil) -> String {
    self < 0 ? "\(orFewer) \(self == -1 ? one : plural ?? one + "s")" : counted(one, plural)
  }
}

extension QuarantineReason {
  /// The advice for whoever creates the exports (`docs/words.md`).
  package var remedy: String {
    switch self {
    case .lineTooLong: "Raise Ingest.maxLineBytes, or look for a missing newline."
    case .invalidUTF8: "Fix the exporter's encoding; text truncated within a character also causes this."
    case .invalidJSON:
      "Write one JSON object per line; a file that is still being written can end in an incomplete line."
    case .notAnObject: "Write one JSON object per line."
    case .tooDeep: "Flatten params."
    case .duplicateKey: "Write each key only once; the intended value is unknown."
    case .nulCharacter: "Remove \\u0000 from the text."
    case .numberOutOfRange: "Write the number as text."
    case .invalidRow:
      "Quote fields that contain separators, quotes or line ends, and close the quotes; or set 'escape', 'quotes' or 'separator' in the map."
    case .noRule: "Add a rule to the map, or leave such records out ('otherwise': 'leaveOut')."
    case .missingField: "Add the field named in the detail."
    case .wrongType: "Correct the type of the field named in the detail."
    case .invalidTimestamp: "Write the time in one of the supported formats."
    case .unknownType: "Use a known type, action or channel."
    case .damagedFile: "Deliver the file again, undamaged; the complete lines before the damage were processed."
    case .otherForm:
      "Follow the detail; usually, the job's entry for the file must name a map with the file's 'form' (docs/maps.md)."
    case .lateRecord: "Set Ingest.lateRecords to 'accept' to process such records with their own timestamps."
    case .rejectedByService: "Fix the cause that the service reported, then requeue the event with 'store requeue'."
    case .schemaInvalid: "Fix the event or the schema according to the detail."
    case .forgotten: "Remove the person from the export; the text of these lines is not kept."
    }
  }
}

extension String {
  /// Returns the text padded with spaces to the width; text that is as long or longer gets one space.
  package func filled(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - unicodeScalars.count))
  }
}

extension String {
  /// Returns the text, truncated to this many bytes and followed by `…` if it is longer. Never splits a Unicode scalar.
  package func clipped(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var end = utf8.index(startIndex, offsetBy: limit)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return self[..<end] + "…"
  }
}
