// swift-tools-version: 6.2
import PackageDescription

/// One target of the package: its folder under `Sources`, what it may import, and its tests.
///
/// Imports go down only. `--explicit-target-dependency-import-check error` refuses an import that is not listed here.
struct Module {
  var name: String
  var imports: [Target.Dependency]
  /// C headers are only imported where this is set; such targets spell every unsafe use out.
  var wrapsC = false
  var tested = true
  /// What only the tests need.
  var testImports: [Target.Dependency] = []
}

let modules: [Module] = [
  Module(name: "EngageModel", imports: []),
  Module(name: "EngageJSON", imports: ["EngageModel"]),
  Module(name: "EngageXML", imports: ["CLibXML2"], wrapsC: true),
  Module(name: "EngageHTTP", imports: ["CCurl"], wrapsC: true, testImports: ["LoopbackServer"]),
  Module(
    name: "EngageAPI", imports: ["EngageModel", "EngageJSON", "EngageXML", "EngageHTTP"],
    testImports: ["LoopbackServer"]),
  Module(name: "EngageConfiguration", imports: ["EngageModel", "EngageJSON", "EngageXML"]),
  Module(name: "EngageGzip", imports: ["CZlib"], wrapsC: true),
  Module(name: "EngageIngest", imports: ["EngageModel", "EngageJSON", "EngageGzip"]),
  Module(
    name: "EngageRules",
    imports: ["EngageModel", "EngageJSON", .product(name: "Crypto", package: "swift-crypto")]),
  Module(
    name: "EngageStore",
    imports: [
      "EngageModel", .product(name: "GRDB", package: "GRDB.swift"),
      .product(name: "GRDBSQLite", package: "GRDB.swift"), .product(name: "Crypto", package: "swift-crypto"),
    ]),
  Module(
    name: "EngageDelivery", imports: ["EngageModel", "EngageJSON", "EngageStore", "EngageAPI", "EngageHTTP"],
    testImports: ["EngageSandbox"]),
  Module(
    name: "EngageIdentity",
    imports: [
      "EngageModel", "EngageStore", "EngageAPI", "EngageHTTP", "EngageXML",
      .product(name: "Crypto", package: "swift-crypto"),
    ], testImports: ["EngageSandbox"]),
  Module(
    name: "EngageReport",
    imports: [
      "EngageModel", .product(name: "Mustache", package: "swift-mustache"),
      .product(name: "Crypto", package: "swift-crypto"),
    ]),
  Module(
    name: "EngageSandbox",
    imports: [
      "EngageModel", "EngageJSON", "EngageXML",
      .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
      .product(name: "NIOHTTP1", package: "swift-nio"),
    ]),
  Module(
    name: "EngagePipeline",
    imports: [
      "EngageModel", "EngageConfiguration", "EngageIngest", "EngageRules", "EngageStore", "EngageDelivery",
      "EngageIdentity", "EngageReport", "EngageAPI", "EngageHTTP",
    ]),
  Module(
    name: "EngageCommands",
    imports: [
      "EngageModel", "EngageJSON", "EngageConfiguration", "EngageIngest", "EngageRules", "EngageStore",
      "EngageIdentity", "EngageReport", "EngagePipeline", "EngageSandbox", "EngageAPI", "EngageHTTP",
      "EngageXML", .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ]),
]

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .treatAllWarnings(as: .error),  // SE-0443
  // Records, texts and rules meet across targets a million times a second; without this the small steps are calls.
  .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

let libraries: [Target] = modules.map { module in
  .target(
    name: module.name, dependencies: module.imports,
    swiftSettings: module.wrapsC ? settings + [.strictMemorySafety()] : settings)
}

let tests: [Target] = modules.filter(\.tested).map { module in
  .testTarget(
    name: module.name + "Tests",
    dependencies: [.target(name: module.name)] + module.imports + module.testImports,
    swiftSettings: settings)
}

/// Runs the executable as people do; it is found beside the test bundle.
let endToEndTests: Target = .testTarget(
  name: "EngageBatchTests",
  dependencies: ["engage-batch", "EngageSandbox", "EngageJSON", "EngageModel", "EngageStore", "LoopbackServer"],
  swiftSettings: settings)

/// `make bench-micro`; no part of the product.
let microBenchmarks: [Target] = [
  .target(name: "AllocationCounter", path: "Benchmarks/Micro/AllocationCounter"),
  .executableTarget(
    name: "engage-microbenchmarks",
    dependencies: ["AllocationCounter", "EngageModel", "EngageJSON", "EngageIngest", "EngageRules", "EngageStore"],
    path: "Benchmarks/Micro/Program", swiftSettings: settings),
]

let package = Package(
  name: "engage-batch",
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
  ],
  targets: [
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "LibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .target(name: "CLibXML2", dependencies: ["LibXML2"]),
    .target(name: "LoopbackServer", path: "Tests/LoopbackServer", swiftSettings: settings),
    .executableTarget(name: "engage-batch", dependencies: ["EngageCommands", "CMalloc"], swiftSettings: settings),
  ] + libraries + tests + [endToEndTests] + microBenchmarks,
  swiftLanguageModes: [.v6]
)
