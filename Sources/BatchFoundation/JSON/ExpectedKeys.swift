internal import CBytes

/// The sequences of keys seen in earlier objects. The lines of an export have few shapes, so an object's next key is
/// usually one that followed the same keys before; it is then compared instead of parsed. The keys of a
/// sequence are distinct, so a key that continues a sequence is not a duplicate.
@safe struct ExpectedKeys: ~Copyable {
  /// The maximum length in bytes of a key with its quotes and colon, and of its encoding. This many bytes are always
  /// copied.
  static let longest = 32
  /// The step before the first key of a line's outermost object.
  static let start: Int32 = 0
  /// The step of an object without expected keys.
  static let none: Int32 = -1
  private static let mostSteps = 256
  private static let mostBranches = 4

  struct Step {
    /// The key with quotes and colon, padded with zeros.
    fileprivate var text = SIMD32<UInt8>()
    /// The encoded key, of which ``resultCount`` bytes are valid.
    fileprivate var result = SIMD32<UInt8>()
    fileprivate(set) var length = 0
    fileprivate(set) var resultCount = 0
    fileprivate(set) var fingerprint: UInt64 = 0
    /// The steps that followed this one, in the order of their first occurrence; 0 for none.
    fileprivate var next = SIMD4<Int32>()
    /// The step before the first key of the object that is this key's value; 0 until one occurs.
    fileprivate var inside: Int32 = 0
  }

  private let steps: UnsafeMutablePointer<Step>
  private var count = 1

  init() {
    unsafe steps = .allocate(capacity: Self.mostSteps)
    unsafe steps.initialize(repeating: Step(), count: Self.mostSteps)
  }

  deinit { unsafe steps.deallocate() }

  /// Returns the known step that follows `step` and has the key at `text`; nil if there is none. At `text`, ``longest``
  /// bytes must be readable.
  @inline(__always)
  func next(behind step: Int32, _ text: UnsafePointer<UInt8>) -> Int32? {
    for branch in 0..<Self.mostBranches {
      let candidate = unsafe steps[Int(step)].next[branch]
      guard candidate > 0 else { return nil }
      let key = unsafe UnsafeRawPointer(steps + Int(candidate)).assumingMemoryBound(to: UInt8.self)
      if unsafe engage_begins(text, key, steps[Int(candidate)].length) != 0 { return candidate }
    }
    return nil
  }

  @inline(__always)
  func length(of step: Int32) -> Int { unsafe steps[Int(step)].length }

  @inline(__always)
  func fingerprint(of step: Int32) -> UInt64 { unsafe steps[Int(step)].fingerprint }

  /// Returns the encoded key of a step; ``longest`` bytes are readable at its address.
  @inline(__always)
  func result(of step: Int32) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(steps + Int(step)) + Self.longest, count: steps[Int(step)].resultCount)
  }

  /// Returns the step before the first key of the object that is a step's value; ``none`` if there are too many.
  @inline(__always)
  mutating func inside(_ step: Int32) -> Int32 {
    let known = unsafe steps[Int(step)].inside
    return known > 0 ? known : makeInside(step)
  }

  private mutating func makeInside(_ step: Int32) -> Int32 {
    guard count < Self.mostSteps else { return Self.none }
    let new = Int32(count)
    unsafe steps[Int(step)].inside = new
    count += 1
    return new
  }

  /// Records a key that followed `step` and is not a duplicate in its object.
  ///
  /// - Parameter text: the key with quotes and colon; `result` is its encoding.
  /// - Returns: the new step; nil if the key is too long, or there are too many steps in all or after `step`.
  mutating func add(
    behind step: Int32, _ text: UnsafeBufferPointer<UInt8>, _ fingerprint: UInt64, _ result: UnsafeRawBufferPointer
  ) -> Int32? {
    guard count < Self.mostSteps, text.count <= Self.longest, result.count <= Self.longest,
      let branch = (0..<Self.mostBranches).first(where: { unsafe steps[Int(step)].next[$0] == 0 })
    else { return nil }
    var new = Step(length: text.count, resultCount: result.count, fingerprint: fingerprint)
    for index in text.indices { new.text[index] = unsafe text[index] }
    for index in result.indices { new.result[index] = unsafe result[index] }
    let number = Int32(count)
    unsafe steps[count] = new
    unsafe steps[Int(step)].next[branch] = number
    count += 1
    return number
  }
}
