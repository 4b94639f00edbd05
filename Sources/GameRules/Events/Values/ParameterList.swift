package import BatchFoundation

/// The members of `eventParams` under construction. A later value replaces an earlier one with the same name.
/// `platform` and `sdkVersion` are kept separately, because they come last on the wire.
package struct ParameterList {
  package enum Value {
    case text(Text)
    case number(Text)
    case bool(Bool)
    /// A value from a record, not yet canonical.
    case view(JSONView)
  }

  private struct Member {
    var name: Text
    /// The first bytes of the name, which nearly always determine the order.
    var prefix: UInt64
    var value: Value

    @inline(__always)
    static func precedes(_ one: Member, _ other: Member) -> Bool {
      one.prefix == other.prefix ? one.name < other.name : one.prefix < other.prefix
    }
  }

  private var members: [Member] = []
  /// An upper bound for the members' size in bytes.
  private var bound = 0
  private var platform: JSONView?
  private var sdkVersion: JSONView?

  package mutating func removeAll() {
    members.removeAll(keepingCapacity: true)
    bound = 0
    platform = nil
    sdkVersion = nil
  }

  @inline(__always)
  package mutating func set(_ name: Text, _ value: Text) { add(name, .text(value), value.count) }

  /// - Parameter value: the text of a JSON number.
  package mutating func set(_ name: Text, number value: Text) { add(name, .number(value), value.count) }

  package mutating func set(_ name: Text, _ value: Bool) { add(name, .bool(value), 0) }

  @inline(__always)
  private mutating func add(_ name: Text, _ value: Value, _ count: Int) {
    members.append(Member(name: name, prefix: name.prefix, value: value))
    bound += ViewWriter.bound(name.count) + ViewWriter.bound(count)
  }

  /// Sets those members of an object that `canonical` keeps. `platform` and `sdkVersion` are set aside for `finish`.
  package mutating func set(_ object: JSONView, _ canonical: CanonicalView) {
    var all = object.members
    while let (name, value) = all.next() {
      if canonical.drops(value) { continue }
      if name.count == 8, name == "platform" {
        platform = value
      } else if name.count == 10, name == "sdkVersion" {
        sdkVersion = value
      } else {
        add(name, .view(value), value.size)
      }
    }
  }

  /// Writes the `eventParams` into the arena.
  ///
  /// - Parameter ownClient: whether the object's own `platform` and `sdkVersion` take precedence, as in stored events.
  package mutating func finish(
    platform: Text, sdkVersion: Text, ownClient: Bool, _ canonical: CanonicalView, in arena: Arena
  ) -> JSONView {
    members.sortNearlySorted(by: Member.precedes)
    let client = (self.platform?.size ?? 0) + (self.sdkVersion?.size ?? 0) + platform.count + sdkVersion.count + 64
    let start = unsafe arena.allocate(ViewWriter.container + bound + client)
    var writer = unsafe ViewWriter(at: start)
    let place = unsafe writer.begin(.object)
    for index in members.indices {
      // If names are equal, the last one counts.
      if index + 1 < members.count, members[index].name == members[index + 1].name { continue }
      writer.key(members[index].name)
      switch members[index].value {
      case .text(let text): writer.string(text)
      case .number(let text): writer.number(text)
      case .bool(let value): writer.bool(value)
      case .view(let view): canonical.write(view, to: &writer)
      }
    }
    writer.key("platform")
    if ownClient, let own = self.platform { canonical.write(own, to: &writer) } else { writer.string(platform) }
    writer.key("sdkVersion")
    if ownClient, let own = self.sdkVersion { canonical.write(own, to: &writer) } else { writer.string(sdkVersion) }
    unsafe writer.end(place)
    return unsafe JSONView(at: start)
  }
}

extension Text {
  /// The first eight bytes as a big-endian number; a shorter text is padded with zeros.
  @inline(__always)
  fileprivate var prefix: UInt64 {
    if count >= 8 { return unsafe UInt64(bigEndian: UnsafeRawPointer(base).loadUnaligned(as: UInt64.self)) }
    var word: UInt64 = 0
    for index in 0..<count { word |= UInt64(self[index]) << UInt64(56 - 8 * index) }
    return word
  }
}
