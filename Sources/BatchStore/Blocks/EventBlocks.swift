package import BatchFoundation

/// Encoded blocks, one after the other in one piece of memory, with what the store keeps beside each.
package struct EventBlocks: Sendable {
  package struct Entry: Sendable, Equatable {
    /// Place of the block in the bytes.
    package var offset: Int
    package var length: Int
    package var events: Int
    /// Events whose augmentation ran out of time.
    package var expired: Int
    /// Of the first and of the last event.
    package var first: Instant
    package var last: Instant
    /// Exact size of the request body that is made from the block.
    package var bodyBytes: Int
    /// Events of different groups never share a request; what a group means is the platform's, such as the request's headers.
    package var group: Int

    package init(
      offset: Int, length: Int, events: Int, expired: Int, first: Instant, last: Instant, bodyBytes: Int, group: Int = 0
    ) {
      self.offset = offset
      self.length = length
      self.events = events
      self.expired = expired
      self.first = first
      self.last = last
      self.bodyBytes = bodyBytes
      self.group = group
    }
  }

  package var bytes: [UInt8]
  package var entries: [Entry]

  package init(bytes: [UInt8] = [], entries: [Entry] = []) {
    self.bytes = bytes
    self.entries = entries
  }

  package var eventCount: Int { entries.reduce(0) { $0 + $1.events } }

  package func block(_ index: Int) -> [UInt8] {
    let entry = entries[index]
    return Array(bytes[entry.offset..<entry.offset + entry.length])
  }
}

/// How much goes into one request (reference formats 2.3, `Upload`).
package struct BlockLimits: Sendable, Equatable {
  package var maxEvents: Int
  package var maxBodyBytes: Int

  package init(maxEvents: Int, maxBodyBytes: Int) {
    self.maxEvents = maxEvents
    self.maxBodyBytes = maxBodyBytes
  }
}
