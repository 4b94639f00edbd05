import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

@testable import BatchConfiguration

/// Every file in `configs/` is read here.
@Suite struct ShippedConfigurationTests {
  let loader = ConfigurationLoader(
    environment: [:], currentDirectory: Checkout.root.path, destinations: ["engage", "deltadna", "unity"],
    now: Instant(milliseconds: 0))

  @Test func allFilesAreKnown() throws {
    let names = try Checkout.names(in: "configs")
    #expect(
      Set(names).isSubset(of: [
        "DeltaDNA-5.0.2.json", "EngageConfig-Android-1.1.0.json", "EngageConfig-iOS-1.1.0.plist", "EngageConfig.json",
        "EngageConfig.plist", "EngageConfig.schema.json", "EngageConfigDefaults.plist", "MobileDeepLinkingConfig.json",
        "README.md", "deltadna-schema.json", "maps", "schemas",
      ]))
  }

  @Test func theDefaultsFileChangesNothing() throws {
    let configuration = try loader.load(files: ["configs/EngageConfigDefaults.plist"])
    #expect(configuration.settings == (try loader.load(files: []).settings))
    #expect(configuration.resolved.allSatisfy { $0.chain.map(\.layer) == [.defaults, .file] })
  }

  @Test func bothOverridesSayTheSame() throws {
    let plist = try loader.load(files: ["configs/EngageConfig.plist"])
    let json = try loader.load(files: ["configs/EngageConfig.json"])
    #expect(plist.settings == json.settings)
    #expect(plist.warnings == [])
    #expect(plist.settings.general.listId == "100001")
    #expect(plist.settings.session.expiration == Milliseconds(300_000))
    #expect(plist.settings.recipient.mobileUserIdColumn == "Mobile User Id")
  }

  @Test func theDeltaDNAPresetHoldsWhatTheCodeUses() throws {
    let settings = try loader.load(files: ["configs/DeltaDNA-5.0.2.json"]).settings.deltaDNA
    #expect(settings.maxRetries == 0)
    #expect(settings.collectTimeout == Milliseconds(55_000))
  }

  @Test func routesAreReadable() throws {
    let routes = try #require(
      try JSONNode.parse(Checkout.bytes("configs/MobileDeepLinkingConfig.json"))["routes"]?.members)
    #expect(routes.map(\.key) == ["campaign/:CurrentCampaign", "product/:id", "product/:id/reviews", "test/:testId"])
  }

  @Test(arguments: [
    ("ios_defaults", "configs/EngageConfig-iOS-1.1.0.plist"),
    ("android_defaults", "configs/EngageConfig-Android-1.1.0.json"),
  ])
  func presetsHoldExactlyWhatThePackagesShipped(vectors: String, file: String) throws {
    let shipped = try #require(try Vectors.node("engage-events", ["config", vectors]).members)
    var preset: [String: JSONNode] = [:]
    guard case .object(let sections) = try DocumentReader.read(Checkout.bytes(file)).value else {
      Issue.record("no dictionary")
      return
    }
    for section in sections {
      guard case .object(let members) = section.value.value else { continue }
      for member in members { preset["\(section.key).\(member.key)"] = member.value }
    }
    #expect(preset.count == shipped.count)
    for member in shipped {
      let value = try #require(member.value["value"])
      let expected: JSONNode
      switch value.value {
      case .bool(let flag): expected = JSONNode(.bool(flag))
      case .number(let number): expected = JSONNode(.number(number))
      case .array(let elements):
        expected = JSONNode(.array(elements.map { JSONNode(.string($0.string ?? "")) }))
      // The iOS package's sample list id is left out.
      case .string(let text): expected = JSONNode(.string(text.hasPrefix("<upstream") ? "" : text))
      default: expected = JSONNode(.null)
      }
      #expect(preset[member.key] == expected, "\(member.key)")
    }
    #expect(
      try loader.load(files: [file]).warnings.allSatisfy { $0.problem.hasSuffix("has no effect in a batch run") })
  }

  @Test func presetsResolveToTheOriginalValues() throws {
    let ios = try loader.load(files: ["configs/EngageConfig-iOS-1.1.0.plist"]).settings
    let android = try loader.load(files: ["configs/EngageConfig-Android-1.1.0.json"]).settings
    let march = Instant(milliseconds: 1_772_409_600_000)
    for settings in [ios, android] {
      #expect(settings.session.expiration == Milliseconds(300_000))
      #expect(settings.location.dateFormat.format(march) == "03-02-2026")
      #expect(settings.augmentation.timeout == Milliseconds(15_000))
    }
    #expect(ios.augmentation.plugins == [.coordinates, .placemark, .locationName])
    #expect(android.augmentation.plugins == [.coordinates, .address, .locationName])
    #expect(try loader.load(files: []).settings.location.dateFormat.format(march) == "2026-03-02")
    for (file, size) in [("iOS-1.1.0.plist", Int64(1)), ("Android-1.1.0.json", 3)] {
      let configuration = try loader.load(files: ["configs/EngageConfig-\(file)"])
      #expect(configuration.resolved(named: "General.ubfEventCacheSize")?.given.value == .number(size))
    }
  }

  @Test func bothVectorDefaultsAreInTheTable() throws {
    for platform in ["ios_defaults", "android_defaults"] {
      for member in try #require(try Vectors.node("engage-events", ["config", platform]).members) {
        #expect(SettingsSchema.current.setting(named: member.key) != nil, "\(member.key)")
      }
    }
  }
}
