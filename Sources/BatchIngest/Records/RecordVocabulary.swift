package import BatchFoundation

/// The platform's part in reading: it defines the possible lines of an export.
///
/// The core reads files, splits them into lines, and refuses lines that no platform accepts: lines that are too long,
/// not UTF-8, not a JSON object or nested too deeply, or that repeat a key. All other lines go to a ``LineDecoder``.
/// Records are then kept packed: a head that the core reads, and a payload that the core only moves around.
@safe package struct RecordVocabulary: Sendable {
  package var dictionary: FieldDictionary
  package var makeDecoder: @Sendable () -> any LineDecoder

  /// Copies the part of a sample's payload that a look-ahead needs, for devices whose records come in slices, and
  /// returns the number of bytes written. The target has room for the whole payload.
  package var copySample: @Sendable (_ payload: UnsafeRawBufferPointer, _ target: UnsafeMutableRawPointer) -> Int = {
    if let source = $0.baseAddress { unsafe $1.copyMemory(from: source, byteCount: $0.count) }
    return $0.count
  }

  /// The records that only this platform has, if exports may be for several platforms; nil for none.
  package var own: OwnRecords?

  /// The records of another platform; nil for none. Its decoder checks them; after that, their only effect is to name
  /// device and user.
  package var ignored: OwnRecords?

  /// The names of the map presets whose records the platform uses; nil if it uses those of all presets.
  package var presets: [String]?

  package struct OwnRecords: Sendable {
    package var makeDecoder: @Sendable () -> any LineDecoder
    /// Returns whether an object of an `events` input is such a record, valid or not.
    package var contains: @Sendable (JSONView) -> Bool
    /// Returns the name of a record type.
    package var name: @Sendable (_ type: UInt8) -> String

    package init(
      makeDecoder: @escaping @Sendable () -> any LineDecoder, contains: @escaping @Sendable (JSONView) -> Bool,
      name: @escaping @Sendable (_ type: UInt8) -> String
    ) {
      (self.makeDecoder, self.contains, self.name) = (makeDecoder, contains, name)
    }
  }

  package init(
    _ dictionary: FieldDictionary = FieldDictionary(), makeDecoder: @escaping @Sendable () -> any LineDecoder
  ) {
    (self.dictionary, self.makeDecoder) = (dictionary, makeDecoder)
  }
}

/// Decodes individual lines to records, keeping its working memory from line to line. It is used by one thread at a
/// time.
///
/// For an accepted line the core calls ``decode(_:of:into:)`` and then, if the record is in the window,
/// ``payloadBound`` and ``writePayload(at:)``. Views of the line are valid until the next line is decoded.
package protocol LineDecoder: AnyObject {
  /// Prepares for the next lines, which are decoded in this order unless refused earlier. Their bytes are valid until
  /// they are decoded.
  ///
  /// Use this for work that is cheaper for several lines together. Not every line is announced; for example, lines for
  /// a ``RecordBuffer`` are not.
  func prepare(_ lines: [BlockLine])

  /// Checks an object and makes it the current record.
  ///
  /// - Returns: nil for a record; otherwise the first ``QuarantineReason`` that applies, in which case the head is
  ///   undefined.
  func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection?

  /// Does the same for a plain line of a `deepLinks` input.
  func decode(_ link: PlainLink, of line: SourceLine, into head: inout RecordHead) -> Rejection?

  /// The maximum number of bytes of the current record's payload.
  var payloadBound: Int { get }

  /// Writes the payload of the current record to memory of any alignment. The payload may not refer to other memory,
  /// because stores keep it (``RecordTimeline``).
  ///
  /// - Returns: the number of bytes written.
  func writePayload(at start: UnsafeMutableRawPointer) -> Int

  /// Passes the ids of people in the current record to `body`, except its device.
  func forEachPerson(_ body: (PersonID.Kind, Text) -> Void)

  /// Turns the last refused object, which belongs to another platform, into the current record. The record has the
  /// object's device values and ids but no effect.
  ///
  /// - Parameters:
  ///   - isTyped: whether the object has device values and ids for this platform.
  ///   - head: the head from the other platform's decoder; its device and time count.
  func ignore(_ line: SourceLine, isTyped: Bool, into head: inout RecordHead)

  /// The fields of accepted records that the platform does not know.
  var unknownFields: UnknownFields { get }
}

extension LineDecoder {
  package func prepare(_ lines: [BlockLine]) {}

  package func forEachPerson(_ body: (PersonID.Kind, Text) -> Void) {}

  package func ignore(_ line: SourceLine, isTyped: Bool, into head: inout RecordHead) {}
}

package struct SourceLine {
  /// The line without white space at either end.
  package var text: Text
  package var kind: InputKind
  package var position: RecordPosition

  @inlinable
  package init(text: Text, kind: InputKind, position: RecordPosition) {
    (self.text, self.kind, self.position) = (text, kind, position)
  }
}

package struct RecordHead {
  /// The device id, which is not empty; records whose ids have the same bytes belong together.
  package var device = Text.empty
  package var timestamp = Instant(milliseconds: 0)
  /// The record type in the platform's numbering.
  package var type: UInt8 = 0
  /// Whether the rules need the record before any other record of its device (``DeviceLookahead``).
  package var isSample = false
  /// The digest that identifies duplicates within one device; nil to use the bytes of the line.
  ///
  /// A record with an identity is a duplicate of an earlier one with the same identity, regardless of their times.
  package var identity: LineDigest?
  /// The type of a record in ``RecordVocabulary/ignored``, plus 1; 0 for all others.
  package var ignoredType: UInt8 = 0
  package var notes: RecordNotes = []
  /// The key of a record with a `recordId` that a map wrote, or with an identity (``RecordIDs``); 0 for none.
  package var recordKey: UInt64 = 0

  @inlinable
  package init() {}
}

/// The names that lines of a platform may use, to suggest in place of misspelled ones.
package struct FieldDictionary: Sendable {
  package var fields: Set<String> = []
  /// The possible values of fields that have a fixed set of values.
  package var values: [String: [String]] = [:]
  /// The required kinds of fields in words, such as `a string`.
  package var kinds: [String: String] = [:]

  /// The fields that may be replaced by another field, each with that other field.
  package var alternatives: [String: String] = [:]

  package init() {}
}
