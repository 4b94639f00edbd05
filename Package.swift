// swift-tools-version: 6.2
import PackageDescription

/// One target of the package: what it may import, and its tests. Its folder under `Sources` has its name.
///
/// Imports go down only. `--explicit-target-dependency-import-check error` refuses an import that is not listed here.
struct Module {
  var name: String
  /// Whether it belongs to a platform; the core knows none.
  var isPlatform = false
  var imports: [Target.Dependency]
  /// What only the tests need.
  var testImports: [Target.Dependency] = []
}

let grdb: [Target.Dependency] = [
  .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
]

let modules: [Module] = [
  Module(name: "BatchFoundation", imports: ["CBytes", "CCrypto", "CLinux", "CSHA1Lanes"]),
  Module(name: "BatchWire", imports: ["BatchFoundation", "CCurl", "CLibXML2"], testImports: ["LoopbackServer"]),
  Module(name: "BatchConfiguration", imports: ["BatchFoundation", "BatchWire"]),
  Module(name: "BatchIngest", imports: ["BatchFoundation", "CBytes", "CZlib"], testImports: ["EngageRules"]),
  Module(
    name: "BatchMaps", imports: ["BatchFoundation", "BatchConfiguration", "BatchIngest", "CEmbedded"] + grdb,
    testImports: ["EngageRules", "GameRules"]),
  Module(
    name: "BatchStore", imports: ["BatchFoundation", "CLZ4"] + grdb,
    testImports: ["EngageRules", "Engage", "StoreSupport"]),
  Module(
    name: "BatchDelivery", imports: ["BatchFoundation", "BatchWire", "BatchStore"],
    testImports: ["StoreSupport", "DestinationContract"]),
  Module(name: "BatchReport", imports: ["BatchFoundation", "CEmbedded"]),
  Module(name: "EventSchemas", imports: ["BatchFoundation", "BatchReport"], testImports: ["GameRules"]),
  Module(
    name: "BatchPipeline",
    imports: [
      "BatchFoundation", "BatchWire", "BatchConfiguration", "BatchMaps", "BatchIngest", "BatchStore", "BatchDelivery",
      "BatchReport", "EventSchemas", "CLinux",
    ],
    testImports: [
      "EngageRules", "Engage", "Games", "StepPlatform", "DestinationContract", "RecipientModel", "StoreSupport",
    ]),
  Module(
    name: "EngageRules", isPlatform: true, imports: ["BatchFoundation", "BatchIngest", "BatchStore"],
    testImports: ["BatchConfiguration", "Engage", "StoreSupport"]),
  Module(
    name: "Engage", isPlatform: true,
    imports: [
      "BatchFoundation", "BatchWire", "BatchConfiguration", "BatchIngest", "BatchStore", "BatchDelivery", "BatchReport",
      "EventSchemas", "BatchPipeline", "EngageRules",
    ] + grdb,
    testImports: ["BatchSandbox", "DestinationContract", "LoopbackServer", "RecipientModel", "StoreSupport"]),
  Module(
    name: "GameRules", isPlatform: true, imports: ["BatchFoundation", "BatchIngest", "BatchStore"],
    testImports: ["BatchConfiguration", "Games"]),
  Module(
    name: "Games", isPlatform: true,
    imports: [
      "BatchFoundation", "BatchWire", "BatchConfiguration", "BatchIngest", "BatchStore", "BatchDelivery", "BatchReport",
      "EventSchemas", "BatchPipeline", "GameRules",
    ] + grdb,
    testImports: ["LoopbackServer", "StoreSupport", "DestinationContract"]),
  Module(
    name: "BatchSandbox", isPlatform: true,
    imports: ["BatchFoundation", "BatchWire", "EventSchemas", "GameRules", "CLinux"], testImports: ["Games"]),
  Module(
    name: "BatchCommands",
    imports: [
      "BatchFoundation", "BatchWire", "BatchConfiguration", "BatchMaps", "BatchIngest", "BatchStore", "BatchReport",
      "EventSchemas", "BatchPipeline", "EngageRules", "Engage", "GameRules", "Games", "BatchSandbox", "CCommit",
      "CEmbedded", .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ], testImports: ["StepPlatform"]),
]

/// The core knows no platform; the commands, which put the program together, import all of them.
for module in modules where !module.isPlatform && module.name != "BatchCommands" {
  for case .byNameItem(let name, _) in module.imports {
    precondition(
      !modules.contains { $0.name == name && $0.isPlatform }, "\(module.name) imports \(name), which is a platform's")
  }
}

/// Whether this is the build that demo, tests and proofs share (`make demo`, `make test`, `make prove`). Tests start the program a thousand times
/// and wait for its work, so what is hot is optimised; what is cold, and the tests, is not, because that compiles in a third of the time.
let isChecked = Context.environment["ENGAGE_CHECKED"] == "1"

/// What a run spends hardly any time in.
let cold: Set = ["BatchCommands", "BatchConfiguration", "BatchWire", "BatchReport", "BatchSandbox"]

let language: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .treatAllWarnings(as: .error),  // SE-0443
]

/// In a release, records, texts and rules meet across targets a million times a second; without the first flag the small steps are calls. What
/// tests may look into cannot be compiled so. Exclusive access to members of classes is checked where tests run; checked again it would be a
/// twentieth of a run. The pass that names constants in closures is left out where the compiler aborts in it (6.3.1, "Can't demangle").
func optimisation(isHot: Bool) -> [SwiftSetting] {
  guard isChecked else {
    let flags = ["-cross-module-optimization", "-enforce-exclusivity=unchecked"]
    return [.unsafeFlags(flags, .when(configuration: .release))]
  }
  let flags =
    isHot
    ? ["-assert-config", "Debug", "-Xllvm", "-sil-disable-pass=constant-capture-propagation"] : ["-Onone"]
  return [.define("DEBUG"), .unsafeFlags(["-enable-testing"] + flags)]
}

let testSettings = language + optimisation(isHot: false)

/// Every unsafe use is spelled out (SE-0458); not in tests, where `#expect` takes expressions apart and loses the word.
let settings = testSettings + [.strictMemorySafety()]

let libraries: [Target] = modules.map { module in
  .target(
    name: module.name, dependencies: module.imports,
    swiftSettings: language + optimisation(isHot: !cold.contains(module.name)) + [.strictMemorySafety()])
}

let tests: [Target] = modules.map { module in
  .testTarget(
    name: module.name + "Tests",
    dependencies: [.target(name: module.name), "TestSupport"] + module.imports + module.testImports,
    swiftSettings: testSettings)
}

/// Runs the executable as people do; it is found beside the test bundle. Not a dependency, because this target, which takes longest, would
/// be compiled when all others are; a build of tests makes all products.
let endToEndTests: Target = .testTarget(
  name: "EngageBatchTests",
  dependencies: [
    "BatchFoundation", "BatchWire", "BatchIngest", "BatchStore", "EngageRules", "Engage", "GameRules", "BatchSandbox",
    "LoopbackServer", "StoreSupport", "TestSupport",
  ],
  swiftSettings: testSettings)

/// Links, references and commands of the pages.
let documentationTests: Target = .testTarget(
  name: "DocumentationTests", dependencies: ["TestSupport"], swiftSettings: testSettings)

/// Readers of foreign bytes: mutated seeds, and own readers beside others. `make fuzz` looks longer.
let fuzzTests: Target = .testTarget(
  name: "FuzzTests",
  dependencies: [
    "BatchFoundation", "BatchWire", "BatchConfiguration", "BatchIngest", "BatchMaps", "BatchStore", "EngageRules",
    "Engage", "GameRules", "BatchSandbox", "TestSupport",
  ],
  path: "Tests/Fuzz", exclude: ["modules", "run"], swiftSettings: testSettings)

/// With ENGAGE_TESTS="BatchMapsTests EngageBatchTests" in the environment a build of tests has these alone.
func isChosen(_ tests: Target) -> Bool {
  Context.environment["ENGAGE_TESTS"].map { $0.split(separator: " ").contains(tests.name[...]) } ?? true
}

/// `make bench-micro`; no part of the product.
let microBenchmarks: [Target] = [
  .target(name: "AllocationCounter", path: "Benchmarks/Micro/AllocationCounter"),
  .executableTarget(
    name: "engage-microbenchmarks",
    dependencies: [
      "AllocationCounter", "BatchFoundation", "BatchConfiguration", "BatchIngest", "BatchStore", "EngageRules",
      "Engage",
    ],
    path: "Benchmarks/Micro/Program", swiftSettings: settings),
]

/// What `make docs` needs; no other build resolves it.
let documentation: [Package.Dependency] =
  Context.environment["ENGAGE_DOCS"] == "1"
  ? [.package(url: "https://github.com/swiftlang/swift-docc-plugin", exact: "1.5.0")] : []

let package = Package(
  name: "engage-batch",
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ] + documentation,
  targets: [
    .systemLibrary(
      name: "CCurl", path: "Sources/System/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CCrypto", path: "Sources/System/CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CMalloc", path: "Sources/System/CMalloc"),
    .target(
      name: "CCommit", path: "Sources/System/CCommit",
      cSettings: Context.environment["ENGAGE_COMMIT"].map { [.define("ENGAGE_COMMIT", to: "\"\($0)\"")] }),
    .target(name: "CSHA1Lanes", path: "Sources/System/CSHA1Lanes"),
    .target(name: "CBytes", path: "Sources/System/CBytes"),
    .target(name: "CEmbedded", path: "Sources/System/CEmbedded", exclude: ["report.css"]),
    .target(name: "CLinux", path: "Sources/System/CLinux"),
    .systemLibrary(name: "CLZ4", path: "Sources/System/CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(name: "CZlib", path: "Sources/System/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "LibXML2", path: "Sources/System/LibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .target(name: "CLibXML2", dependencies: ["LibXML2"], path: "Sources/System/CLibXML2"),
    .target(
      name: "LoopbackServer", dependencies: ["BatchFoundation"], path: "Tests/LoopbackServer", swiftSettings: settings),
    .target(
      name: "TestSupport",
      dependencies: ["BatchFoundation", "BatchConfiguration", "BatchWire", "BatchIngest", "BatchStore"],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    .target(
      name: "StoreSupport",
      dependencies: [
        "BatchFoundation", "BatchStore", "EngageRules", "Engage", "TestSupport",
      ] + grdb,
      path: "Tests/StoreSupport", swiftSettings: settings),
    .target(
      name: "DestinationContract",
      dependencies: [
        "BatchFoundation", "BatchWire", "BatchStore", "BatchDelivery", "LoopbackServer", "StoreSupport",
        "TestSupport",
      ],
      path: "Tests/DestinationContract", swiftSettings: settings),
    .target(
      name: "StepPlatform",
      dependencies: [
        "BatchConfiguration", "BatchDelivery", "BatchFoundation", "BatchWire", "BatchIngest", "BatchPipeline",
        "BatchReport", "BatchStore",
      ], path: "Tests/StepPlatform", swiftSettings: testSettings),
    .target(
      name: "RecipientModel", dependencies: ["BatchFoundation", "EngageRules", "Engage"],
      path: "Tests/RecipientModel", swiftSettings: settings),
    .executableTarget(name: "engage-batch", dependencies: ["BatchCommands", "CMalloc"], swiftSettings: settings),
  ] + libraries + (tests + [endToEndTests, documentationTests, fuzzTests]).filter(isChosen) + microBenchmarks,
  swiftLanguageModes: [.v6]
)
