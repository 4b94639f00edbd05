import BatchFoundation
import BatchIngest
import BatchStore

/// Collects the digests of a partition's lines, from which later runs recognize duplicates.
///
/// It groups digests that are close in time into segments. A later run reads the segments that overlap the times of its
/// records, so one record with a wrong time must not widen the segment of the others.
struct DigestCollector {
  let bucket: Int
  private var days: [Day] = []
  private var places: [Int64: Int] = [:]
  /// The places of the days looked up last, by the last bits of their numbers.
  private var recent = InlineArray<64, Int32>(repeating: 0)
  /// The collector for record ids, which have separate buckets; empty until a record with an id is added.
  private var recordIDs: [DigestCollector] = []

  private struct Day {
    var number: Int64
    var first: Instant
    var last: Instant
    var digests: [LineDigest]
  }

  /// The maximum number of digests in a segment that covers several days; a row for each day would cost more than it
  /// saves.
  private static let digestsTogether = 512
  /// The maximum distance, in days, between consecutive days of a segment.
  private static let gap: Int64 = 31

  init(bucket: Int) { self.bucket = bucket }

  mutating func add(_ digest: LineDigest, at instant: Instant) {
    let number = instant.milliseconds / DaySpans.day
    let slot = Int(number & 63)
    var current = Int(recent[slot])
    if current >= days.count || days[current].number != number {
      current = places[number] ?? days.count
      if current == days.count {
        places[number] = current
        days.append(Day(number: number, first: instant, last: instant, digests: []))
      }
      recent[slot] = Int32(truncatingIfNeeded: current)
    }
    days[current].digests.append(digest)
    days[current].first = min(days[current].first, instant)
    days[current].last = max(days[current].last, instant)
  }

  mutating func add(recordKey key: UInt64, at instant: Instant) {
    if recordIDs.isEmpty { recordIDs = [DigestCollector(bucket: RecordIDs.bucket(of: bucket))] }
    recordIDs[0].add(RecordIDs.entry(key, at: instant.milliseconds), at: instant)
  }

  /// The segments in time order, followed by the segments of record ids.
  var segments: [DigestSegment] {
    var joined: [Day] = []
    for day in days.sorted(by: { $0.number < $1.number }) {
      if let last = joined.last, day.number - last.number <= Self.gap,
        last.digests.count + day.digests.count <= Self.digestsTogether
      {
        joined[joined.count - 1].digests += day.digests
        joined[joined.count - 1].last = day.last
        joined[joined.count - 1].number = day.number
      } else {
        joined.append(day)
      }
    }
    return joined.map {
      DigestSegment(bucket: bucket, first: $0.first, last: $0.last, digests: LineDigest.sortedBytes($0.digests))
    } + recordIDs.flatMap(\.segments)
  }
}

extension LineDigest {
  static let byteCount = 16

  /// Returns the bytes of the digests, sorted and big-endian, so that the bytes sort like the digests.
  static func sortedBytes(_ digests: [LineDigest]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digests.count * byteCount)
    for digest in sorted(digests) {
      unsafe withUnsafeBytes(of: (digest.high.bigEndian, digest.low.bigEndian)) { unsafe bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  /// Sorts by the first bits first, which is nearly enough because digests are evenly distributed.
  private static func sorted(_ digests: [LineDigest]) -> [LineDigest] {
    let shift = UInt64(max(40, digests.count.leadingZeroBitCount))
    var ends = [Int](repeating: 0, count: Int(UInt64.max >> shift) + 1)
    for digest in digests { ends[Int(digest.high >> shift)] += 1 }
    guard ends.allSatisfy({ $0 < 16 }) else { return digests.sorted() }
    var end = 0
    for place in ends.indices {
      end += ends[place]
      ends[place] = end
    }
    var sorted = digests
    for digest in digests {
      let first = Int(digest.high >> shift)
      ends[first] -= 1
      sorted[ends[first]] = digest
    }
    for place in sorted.indices.dropFirst() {
      var place = place
      while place > 0, sorted[place] < sorted[place - 1] {
        sorted.swapAt(place, place - 1)
        place -= 1
      }
    }
    return sorted
  }

  /// Returns all digests of the segments, ascending.
  static func merged(_ segments: [DigestSegment]) -> [LineDigest] {
    var digests: [LineDigest] = []
    digests.reserveCapacity(segments.reduce(0) { $0 + $1.digests.count / byteCount })
    for segment in segments {
      unsafe segment.digests.withUnsafeBytes { bytes in
        for start in stride(from: 0, to: bytes.count - byteCount + 1, by: byteCount) {
          unsafe digests.append(
            LineDigest(
              high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)),
              low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self))))
        }
      }
    }
    if segments.count > 1 { digests.sort() }
    return digests
  }
}
