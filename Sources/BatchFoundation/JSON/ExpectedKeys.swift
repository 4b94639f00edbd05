internal import CBytes

/// The keys that followed one another in earlier objects, so that the next object's are compared instead of read: an export has few
/// shapes of lines.
///
/// A step is a key behind all those before it in its object, which are other keys. So whoever is led to it need not look whether its key
/// was there already.
@safe struct ExpectedKeys: ~Copyable {
  /// Bytes of a key with its quotes and the colon behind it, and of what is written for it, at most; both are read and written as a whole.
  static let longest = 32
  /// Where the object of a line begins.
  static let start: Int32 = 0
  /// Of a level whose keys nobody expects.
  static let none: Int32 = -1
  private static let mostSteps = 256
  private static let mostBranches = 4

  struct Step {
    /// With quotes and colon; zeros behind.
    fileprivate var text = SIMD32<UInt8>()
    /// What was written for it, of which ``resultCount`` bytes count.
    fileprivate var result = SIMD32<UInt8>()
    fileprivate(set) var length = 0
    fileprivate(set) var resultCount = 0
    fileprivate(set) var fingerprint: UInt64 = 0
    /// The steps that came behind it, in the order in which they were met; 0 for none.
    fileprivate var next = SIMD4<Int32>()
    /// Where an object begins that is its value; 0 before there was one.
    fileprivate var inside: Int32 = 0
  }

  private let steps: UnsafeMutablePointer<Step>
  private var count = 1

  init() {
    unsafe steps = .allocate(capacity: Self.mostSteps)
    unsafe steps.initialize(repeating: Step(), count: Self.mostSteps)
  }

  deinit { unsafe steps.deallocate() }

  /// The step behind `step` whose key stands at `text`, of which ``longest`` bytes can be read.
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

  /// What was written for the key; ``longest`` bytes can be read.
  @inline(__always)
  func result(of step: Int32) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(steps + Int(step)) + Self.longest, count: steps[Int(step)].resultCount)
  }

  /// Where the keys of an object begin that is the value of a step's key.
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

  /// Notes a key that came behind a step and was not in its object before.
  ///
  /// - Parameters:
  ///   - text: with quotes and colon.
  ///   - result: what was written for it.
  /// - Returns: its step; nil for one that is too long, or one too many.
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
