package import BatchFoundation

/// The platform's part of reading: the possible lines of an export.
///
/// The core reads files, cuts lines, and refuses lines that no platform accepts: too long, not UTF-8, not a JSON
/// object, nested too deeply, or with a repeated key. The rest goes to a ``LineDecoder``. Records are then kept packed,
/// as a head that the core knows and a payload that it moves around without looking inside.
package protocol RecordVocabulary: Sendable {
  func makeDecoder() -> any LineDecoder

  /// Copies the part of a sample's payload that looking ahead needs, for devices whose records come in slices.
  ///
  /// - Parameter target: memory with room for `payload.count` bytes.
  /// - Returns: the number of bytes written.
  func copySample(_ payload: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int

  /// Returns the device of a record if its line need not be parsed for it, for distributing lines; otherwise nil.
  ///
  /// For a line that is not a record, the result may be any text.
  func device(_ line: SourceLine) -> Text?

  var dictionary: FieldDictionary { get }

  /// Returns the name of a record type that has no effect here (``RecordHead/ignoredType``).
  func ignoredName(_ type: UInt8) -> String
}

extension RecordVocabulary {
  package func copySample(_ payload: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int {
    if let source = payload.baseAddress { unsafe target.copyMemory(from: source, byteCount: payload.count) }
    return payload.count
  }

  package func ignoredName(_ type: UInt8) -> String { "" }
}

/// A decoder of single lines to records that keeps its working memory from line to line. One thread at a time uses it.
///
/// For an accepted line the core calls ``decode(_:of:into:)`` and then, if the record is in the window,
/// ``payloadBound`` and ``writePayload(at:)``. Views of the line live until the next line is decoded.
package protocol LineDecoder: AnyObject {
  /// Prepares for the next lines, decoded in this order except those refused before; their bytes live until then.
  ///
  /// Useful for work that is cheaper for several lines than for one. Not every line is announced: those of
  /// ``RecordBuffer`` are not.
  func prepare(_ lines: [BlockLine])

  /// Checks an object and makes it the current record.
  ///
  /// - Returns: nil for a record, else the first reason of the list; the head is then undefined.
  func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection?

  /// Does the same for a plain line of a `deepLinks` input.
  func decode(_ link: PlainLink, of line: SourceLine, into head: inout RecordHead) -> Rejection?

  /// The maximum number of bytes of the current record's payload.
  var payloadBound: Int { get }

  /// Writes the payload of the current record, to memory of any alignment, in a form that need not outlive the run.
  ///
  /// - Returns: the number of bytes written.
  func writePayload(at start: UnsafeMutableRawPointer) -> Int

  /// Passes the ids of people in the current record to `body`, except its device.
  func forEachPerson(_ body: (PersonID.Kind, Text) -> Void)

  /// The fields of accepted records that the platform does not know.
  var unknownFields: UnknownFields { get }
}

extension LineDecoder {
  package func prepare(_ lines: [BlockLine]) {}

  package func forEachPerson(_ body: (PersonID.Kind, Text) -> Void) {}
}

package struct SourceLine {
  /// The line without white space at both ends.
  package var text: Text
  package var kind: InputKind
  package var position: RecordPosition

  @inlinable
  package init(text: Text, kind: InputKind, position: RecordPosition) {
    (self.text, self.kind, self.position) = (text, kind, position)
  }
}

package struct RecordHead {
  /// The device id, not empty; records with equal bytes here belong together.
  package var device: Text
  package var timestamp: Instant
  /// The record type in the platform's numbering.
  package var type: UInt8
  /// Whether the rules need the record before any other of its device (``DeviceLookahead``).
  package var isSample: Bool
  /// The digest that identifies duplicates within one device; nil for the bytes of the line.
  ///
  /// A record with an identity is a duplicate of an earlier one with the same, whatever their times.
  package var identity: LineDigest?
  /// The type of a record that only another platform uses and that has no effect here; 0 for all others.
  package var ignoredType: UInt8 = 0
  package var notes: RecordNotes = []
  /// The key of a record with a `recordId` that a map wrote, or with an identity (``RecordIDs``); 0 for none.
  package var recordKey: UInt64 = 0

  @inlinable
  package init(
    device: Text = .empty, timestamp: Instant = Instant(milliseconds: 0), type: UInt8 = 0, isSample: Bool = false,
    identity: LineDigest? = nil
  ) {
    (self.device, self.timestamp, self.type) = (device, timestamp, type)
    (self.isSample, self.identity) = (isSample, identity)
  }
}

/// The names that lines of a platform may use, for suggesting the intended one for a misspelling.
package struct FieldDictionary: Sendable {
  package var fields: Set<String> = []
  /// The known values of fields that have a fixed set.
  package var values: [String: [String]] = [:]
  /// The required kinds of fields in words, such as `a text`.
  package var kinds: [String: String] = [:]

  /// Fields that may be replaced by another one.
  package var alternatives: [String: String] = [:]

  package init() {}
}

extension RecordVocabulary {
  package var dictionary: FieldDictionary { FieldDictionary() }
}
