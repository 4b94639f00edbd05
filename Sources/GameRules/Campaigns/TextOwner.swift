import BatchFoundation

/// Owns texts that are written once and then read on any thread.
///
/// `@unchecked Sendable`: the arena is only written while the owner is local to who makes it.
final class TextOwner: @unchecked Sendable {
  private let arena = Arena(blockSize: 1 << 12)

  init() {}

  func own(_ string: String) -> Text { arena.text(string) }
}
