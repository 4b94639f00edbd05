package import BatchFoundation

/// What the lines of an export may be: the part of reading that a platform owns.
///
/// The core reads files, cuts lines, and refuses what no platform takes: lines that are too long, no UTF-8, no JSON object, nested
/// too deeply, with a key twice. What is left goes to a ``LineDecoder``. Records are then kept packed, as a head that the core
/// knows and a payload that it moves around without looking inside.
package protocol RecordVocabulary: Sendable {
  /// A decoder for the lines of one thread.
  func makeDecoder() -> any LineDecoder

  /// Copies of a sample's payload what looking ahead needs, for devices whose records come in slices.
  ///
  /// - Parameters:
  ///   - payload: as the reader packed it.
  ///   - target: has room for `payload.count` bytes.
  /// - Returns: the bytes written.
  func copySample(_ payload: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int

  /// The device of a record, where its line tells without being read, for who only distributes lines; nil where it has to be read.
  ///
  /// Of a line that is not a record it may be anything.
  func device(_ line: SourceLine) -> Text?

  /// The names that lines may use.
  var dictionary: FieldDictionary { get }

  /// What a record is called that means nothing here (``RecordHead/ignoredType``).
  func ignoredName(_ type: UInt8) -> String
}

extension RecordVocabulary {
  /// All of it.
  package func copySample(_ payload: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int {
    if let source = payload.baseAddress { unsafe target.copyMemory(from: source, byteCount: payload.count) }
    return payload.count
  }

  /// There are none.
  package func ignoredName(_ type: UInt8) -> String { "" }
}

/// Turns single lines into records; keeps its working memory from line to line. One thread at a time uses it.
///
/// For a line that is taken the core asks in this order: ``decode(_:of:into:)``, and, if the record is in the window, ``payloadBound``
/// and ``writePayload(at:)``. Views of the line live until the next line is decoded.
package protocol LineDecoder: AnyObject {
  /// Sees lines that will be decoded next, in this order unless one is refused before it gets here; their bytes live until then.
  ///
  /// For what is cheaper for several lines than for one. Not every line comes with others: those of ``RecordBuffer`` do not.
  func prepare(_ lines: [BlockLine])

  /// Checks an object and takes it as the record at hand.
  ///
  /// - Returns: nil for a record, else the first reason of the list; the head then means nothing.
  func decode(_ object: JSONView, of line: SourceLine, into head: inout RecordHead) -> Rejection?

  /// The same for a plain line of a `deepLinks` input.
  func decode(_ link: PlainLink, of line: SourceLine, into head: inout RecordHead) -> Rejection?

  /// At most this many bytes does the payload of the record at hand take.
  var payloadBound: Int { get }

  /// Writes the payload of the record at hand, in memory of any alignment and in a form that need not outlive the run.
  ///
  /// - Returns: the bytes written.
  func writePayload(at start: UnsafeMutableRawPointer) -> Int

  /// Hands the ids of people that the record at hand has to `body`, besides its device.
  func forEachPerson(_ body: (PersonID.Kind, Text) -> Void)

  /// Fields of accepted records that the platform does not know.
  var unknownFields: UnknownFields { get }
}

extension LineDecoder {
  /// Nothing is.
  package func prepare(_ lines: [BlockLine]) {}

  /// There are none.
  package func forEachPerson(_ body: (PersonID.Kind, Text) -> Void) {}
}

/// A line as it stood in its file.
package struct SourceLine {
  /// Without white space at both ends.
  package var text: Text
  package var kind: InputKind
  package var position: RecordPosition

  @inlinable
  package init(text: Text, kind: InputKind, position: RecordPosition) {
    self.text = text
    self.kind = kind
    self.position = position
  }
}

/// What the core has to know of a record.
package struct RecordHead {
  /// Not empty; records with equal bytes here belong together.
  package var device: Text
  package var timestamp: Instant
  /// The platform's own numbering.
  package var type: UInt8
  /// Whether the decider wants to see the record before any other of its device (``DeviceLookahead``).
  package var isSample: Bool
  /// By what duplicates are known, within one device; nil for the bytes of the line.
  ///
  /// A record with an identity of its own is a duplicate of an earlier one with the same, whatever their times.
  package var identity: LineDigest?
  /// Of a record that only another platform uses, and that stands here for one that does nothing; 0 for all others.
  package var ignoredType: UInt8 = 0
  package var notes: RecordNotes = []
  /// Of a record with a `recordId` that a map wrote, or with an identity, what is one record with it (``RecordIDs``); 0 for none.
  package var recordKey: UInt64 = 0

  @inlinable
  package init(
    device: Text = .empty, timestamp: Instant = Instant(milliseconds: 0), type: UInt8 = 0, isSample: Bool = false,
    identity: LineDigest? = nil
  ) {
    self.device = device
    self.timestamp = timestamp
    self.type = type
    self.isSample = isSample
    self.identity = identity
  }
}
