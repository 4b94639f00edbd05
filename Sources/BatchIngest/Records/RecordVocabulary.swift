package import BatchFoundation

/// The platform's part of reading: the possible lines of an export.
///
/// The core reads files, cuts lines, and refuses lines that no platform accepts: too long, not UTF-8, not a JSON
/// object, nested too deeply, or with a repeated key. The rest goes to a ``LineDecoder``. Records are then kept packed,
/// as a head that the core knows and a payload that it moves around without looking inside.
@safe package struct RecordVocabulary: Sendable {
  package var dictionary: FieldDictionary
  package var makeDecoder: @Sendable () -> any LineDecoder

  /// Copies the part of a sample's payload that looking ahead needs, for devices whose records come in slices, to memory
  /// with room for all of it, and returns the number of bytes written.
  package var copySample: @Sendable (_ payload: UnsafeRawBufferPointer, _ target: UnsafeMutableRawPointer) -> Int = {
    if let source = $0.baseAddress { unsafe $1.copyMemory(from: source, byteCount: $0.count) }
    return $0.count
  }

  /// The records that other platforms do not have, if exports may be for several; nil for none.
  package var own: OwnRecords?

  /// Records of another platform, which its decoder checks and which then have no effect but to name device and user.
  package var ignored: OwnRecords?

  package struct OwnRecords: Sendable {
    package var makeDecoder: @Sendable () -> any LineDecoder
    /// Returns whether an object of an `events` input is such a record, right or wrong.
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

  /// Makes the object that was refused last the current record, with its device values and ids, and without effect: it
  /// is another platform's.
  ///
  /// - Parameters:
  ///   - isTyped: whether it has device values and ids for this platform.
  ///   - head: the head by the other platform's decoder, whose device and time count.
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
  /// The type of a record in ``RecordVocabulary/ignored``, plus 1; 0 for all others.
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
