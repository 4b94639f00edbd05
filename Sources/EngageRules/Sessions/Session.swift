package import BatchFoundation

/// Where a device's session stands (reference events 3.3).
package enum Session {
  case none
  /// In use since `segmentStart`, after `accumulated` of earlier use.
  case active(segmentStart: Instant, accumulated: Milliseconds)
  case paused(SessionPause)
}

/// A session out of use, with what its end would carry: what held at the pause, whatever comes later. The values of its device are beside
/// it, ``DeviceState/pausedCore``, because they are large and it is looked at with every record.
package struct SessionPause {
  package var at: Instant
  package var segmentStart: Instant
  /// Use before the segment that the pause ended; a later pause without a resume replaces this one from here.
  package var accumulatedBefore: Milliseconds
  package var accumulated: Milliseconds
  /// The session ends with the first instant after this one.
  package var expiresAt: Instant
  /// The campaign active at the pause, or empty.
  package var campaign: Text
  /// The emission number before the first identity check since the pause, whose result the end does not carry
  /// (reference decisions 30); nil without such a check.
  package var identityAsOf: Int64?
  /// Where the record that paused it was read; the end of the session comes from there.
  package var source = StoredSource.unknown
  /// Where the record that started it was read.
  package var startSource = StoredSource.unknown
}
