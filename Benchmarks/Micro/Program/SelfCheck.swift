/// Asks the heap for one piece of memory an item, which the counter has to see.
///
/// A counter that sees nothing would pass every comparison: then a C library or a linker does not let the program replace malloc.
final class SelfCheck: Benchmark {
  let name = "self-check"
  let item = "allocation"
  let items = 1000
  let bytes: Int? = nil

  private var kept: [Piece?] = Array(repeating: nil, count: 1000)

  private final class Piece {
    var value: Int

    init(_ value: Int) { self.value = value }
  }

  func prepare() { for index in kept.indices { kept[index] = nil } }

  func pass() { for index in kept.indices { kept[index] = Piece(index) } }
}
