import BatchFoundation
import Testing

@testable import BatchReport

@Suite("What is unusual about a night") struct NightFiguresTests {
  private func figures(
    volume: Int = 1000, quarantined: Int = 0, warnings: Int = 0, conflicts: Int = 0, age: Int? = 1
  ) -> NightFigures {
    var figures = NightFigures(.fixture())
    (figures.volume, figures.quarantinedPerMille, figures.warnings) = (volume, quarantined, warnings)
    (figures.conflicts, figures.age) = (conflicts, age)
    return figures
  }

  @Test("Its figures are those of the report")
  func ofAReport() {
    let figures = NightFigures(.fixture())
    #expect(figures.volume == 1236 && figures.quarantinedPerMille == 1)
  }

  @Test("A figure is unusual beyond the factor, where it is not small anyway; fewer than three nights say nothing")
  func unusual() {
    let nights = [figures(), figures(volume: 1200), figures(volume: 900, quarantined: 2, warnings: 4, age: 3)]
    func unusual(_ figures: NightFigures) -> [String] { figures.unusual(beside: nights, factor: 3) }
    #expect(unusual(figures()) == [])
    #expect(unusual(figures(volume: 300)) == [])
    #expect(unusual(figures(volume: 299)) == ["usable records: 299; the previous 3 runs had 900 to 1,200"])
    #expect(unusual(figures(volume: 3600)) == [])
    #expect(unusual(figures(volume: 3601)).count == 1)
    #expect(unusual(figures(quarantined: 11)) == [])
    #expect(unusual(figures(quarantined: 125)) == ["share quarantined: 12.5 %; the previous 3 runs had 0.0 % to 0.2 %"])
    #expect(unusual(figures(warnings: 13)) == [])
    #expect(unusual(figures(warnings: 14)).count == 1)
    #expect(unusual(figures(conflicts: 2)) == [])
    #expect(unusual(figures(conflicts: 3)).count == 1)
    #expect(unusual(figures(age: 9)) == [])
    #expect(unusual(figures(age: 30)) == ["hours since the newest event: 30; the previous 3 runs had 1 to 3"])
    #expect(unusual(figures(age: nil)) == [])
    #expect(figures(volume: 1).unusual(beside: Array(nights.prefix(2)), factor: 3) == [])
  }
}
