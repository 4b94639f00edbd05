// swift-tools-version: 6.2
import PackageDescription

/// One target of the package: its folder under `Sources`, what it may import, and its tests.
///
/// Imports go down only. `--explicit-target-dependency-import-check error` refuses an import that is not listed here.
struct Module {
  var name: String
  /// The platform whose folder under `Sources/Platforms` it stands in; nil for the core, which knows no platform.
  var platform: String?
  var imports: [Target.Dependency]
  var tested = true
  /// What only the tests need.
  var testImports: [Target.Dependency] = []

  var path: String { platform.map { "Platforms/\($0)/\(name)" } ?? name }
}

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")

let modules: [Module] = [
  Module(name: "BatchFoundation", imports: ["CBytes", "CCrypto", "CLinux", "CSHA1Lanes"]),
  Module(name: "BatchExpressions", imports: []),
  Module(name: "BatchXML", imports: ["CLibXML2"], testImports: ["BatchFoundation"]),
  Module(name: "BatchHTTP", imports: ["BatchFoundation", "CCurl"], testImports: ["LoopbackServer"]),
  Module(name: "BatchConfiguration", imports: ["BatchFoundation", "BatchXML"]),
  Module(name: "BatchIngest", imports: ["BatchFoundation", "CBytes", "CZlib"], testImports: ["EngageEvents"]),
  Module(
    name: "BatchMaps",
    imports: [
      "BatchFoundation", "BatchConfiguration", "BatchIngest", "CEmbedded", grdb,
      .product(name: "GRDBSQLite", package: "GRDB.swift"),
    ],
    testImports: ["EngageEvents", "DeltaDNAEvents"]),
  Module(
    name: "BatchStore", imports: ["BatchFoundation", grdb, .product(name: "GRDBSQLite", package: "GRDB.swift")],
    testImports: ["EngageEvents", "EngageIdentity", "StoreSupport"]),
  Module(
    name: "BatchDelivery", imports: ["BatchFoundation", "BatchHTTP", "BatchStore"],
    testImports: ["StoreSupport", "DestinationContract"]),
  Module(name: "BatchReport", imports: ["BatchFoundation"]),
  Module(
    name: "BatchPlatform",
    imports: [
      "BatchFoundation", "BatchHTTP", "BatchConfiguration", "BatchIngest", "BatchStore", "BatchDelivery", "BatchReport",
    ], tested: false),
  Module(name: "BatchSandbox", imports: ["BatchFoundation", "CLinux"], tested: false),
  Module(
    name: "EngageEvents", platform: "Engage", imports: ["BatchFoundation", "BatchIngest", "BatchStore"],
    testImports: ["StoreSupport"]),
  Module(
    name: "EngageRules", platform: "Engage", imports: ["BatchFoundation", "BatchExpressions", "EngageEvents"],
    testImports: ["BatchConfiguration", "EngagePlatform"]),
  Module(
    name: "EngageAPI", platform: "Engage", imports: ["BatchFoundation", "BatchXML", "BatchHTTP"],
    testImports: ["LoopbackServer"]),
  Module(
    name: "EngageIdentity", platform: "Engage",
    imports: [
      "BatchFoundation", "BatchConfiguration", "BatchStore", "BatchHTTP", "BatchXML", "EngageEvents", "EngageAPI", grdb,
    ],
    testImports: ["BatchSandbox", "EngageSandbox", "RecipientModel", "StoreSupport"]),
  Module(
    name: "EngageSandbox", platform: "Engage", imports: ["BatchFoundation", "BatchXML", "BatchSandbox"]),
  Module(
    name: "EngagePlatform", platform: "Engage",
    imports: [
      "BatchFoundation", "BatchHTTP", "BatchConfiguration", "BatchIngest", "BatchStore", "BatchDelivery", "BatchReport",
      "BatchPlatform", "EngageEvents", "EngageRules", "EngageAPI", "EngageIdentity", "DeltaDNASchema",
    ],
    testImports: ["BatchSandbox", "EngageSandbox", "DestinationContract", "LoopbackServer", "StoreSupport"]),
  Module(name: "DeltaDNAEvents", platform: "DeltaDNA", imports: ["BatchFoundation", "BatchIngest", "BatchStore"]),
  Module(
    name: "DeltaDNASchema", platform: "DeltaDNA",
    imports: ["BatchFoundation", "BatchExpressions", "BatchReport", "DeltaDNAEvents"]),
  Module(
    name: "DeltaDNARules", platform: "DeltaDNA", imports: ["BatchFoundation", "DeltaDNAEvents"],
    testImports: ["BatchIngest", "BatchStore", "BatchConfiguration", "DeltaDNAPlatform"]),
  Module(
    name: "DeltaDNAAPI", platform: "DeltaDNA", imports: ["BatchFoundation", "BatchHTTP", "DeltaDNAEvents"],
    testImports: ["LoopbackServer", "DeltaDNARules"]),
  Module(
    name: "DeltaDNASandbox", platform: "DeltaDNA",
    imports: ["BatchFoundation", "BatchSandbox", "DeltaDNAEvents", "DeltaDNASchema", "DeltaDNAAPI"],
    testImports: ["BatchHTTP", "DeltaDNARules"]),
  Module(
    name: "DeltaDNAPlatform", platform: "DeltaDNA",
    imports: [
      "BatchFoundation", "BatchHTTP", "BatchConfiguration", "BatchIngest", "BatchStore", "BatchDelivery", "BatchReport",
      "BatchPlatform", "DeltaDNAEvents", "DeltaDNASchema", "DeltaDNARules", "DeltaDNAAPI", grdb,
    ], testImports: ["LoopbackServer", "StoreSupport", "DestinationContract"]),
  Module(
    name: "UnityPlatform", platform: "Unity",
    imports: [
      "BatchFoundation", "BatchHTTP", "BatchConfiguration", "BatchIngest", "BatchStore", "BatchDelivery", "BatchReport",
      "BatchPlatform", "DeltaDNAEvents", "DeltaDNAAPI", "DeltaDNAPlatform",
    ], testImports: ["LoopbackServer", "StoreSupport", "DestinationContract"]),
  Module(
    name: "UnitySandbox", platform: "Unity", imports: ["BatchFoundation", "BatchSandbox", "DeltaDNASandbox"],
    testImports: ["BatchHTTP", "DeltaDNASchema"]),
  Module(
    name: "BatchPipeline",
    imports: [
      "BatchFoundation", "BatchConfiguration", "BatchMaps", "BatchIngest", "BatchStore", "BatchDelivery", "BatchReport",
      "BatchPlatform", "CLinux",
    ],
    testImports: [
      "BatchHTTP", "EngageAPI", "EngageEvents", "EngageIdentity", "EngagePlatform", "DeltaDNAAPI", "DeltaDNAPlatform",
      "UnityPlatform", "StepPlatform", "DestinationContract", "RecipientModel", "StoreSupport",
    ]),
  Module(
    name: "BatchCommands",
    imports: [
      "BatchFoundation", "BatchXML", "BatchHTTP", "BatchConfiguration", "BatchMaps", "BatchIngest", "BatchStore",
      "BatchReport", "BatchPlatform", "BatchPipeline", "BatchSandbox", "EngageEvents", "EngageRules", "EngageAPI",
      "EngageIdentity", "EngagePlatform", "EngageSandbox", "DeltaDNAEvents", "DeltaDNASchema", "DeltaDNARules",
      "DeltaDNAPlatform", "DeltaDNASandbox", "UnityPlatform", "UnitySandbox", "CCommit", "CEmbedded",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ], testImports: ["StepPlatform"]),
]

/// The core knows no platform; the commands, which put the program together, import all of them.
for module in modules where module.platform == nil && module.name != "BatchCommands" {
  for case .byNameItem(let name, _) in module.imports {
    precondition(
      !modules.contains { $0.name == name && $0.platform != nil },
      "\(module.name) imports \(name), which is a platform's")
  }
}

/// Whether this is the build that demo, tests and proofs share (`make demo`, `make test`, `make prove`). Tests start the program a thousand times
/// and wait for its work, so what is hot is optimised; what is cold, and the tests, is not, because that compiles in a third of the time.
let isChecked = Context.environment["ENGAGE_CHECKED"] == "1"

/// What a run spends hardly any time in.
let cold: Set = [
  "BatchCommands", "BatchConfiguration", "BatchHTTP", "BatchReport", "BatchSandbox", "BatchXML", "DeltaDNASandbox",
  "EngageSandbox", "UnityPlatform", "UnitySandbox",
]

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
    name: module.name, dependencies: module.imports, path: "Sources/\(module.path)",
    swiftSettings: language + optimisation(isHot: !cold.contains(module.name)) + [.strictMemorySafety()])
}

let tests: [Target] = modules.filter(\.tested).map { module in
  .testTarget(
    name: module.name + "Tests",
    dependencies: [.target(name: module.name), "TestSupport"] + module.imports + module.testImports,
    path: "Tests/\(module.path)Tests", swiftSettings: testSettings)
}

/// Runs the executable as people do; it is found beside the test bundle. Not a dependency, because this target, which takes longest, would
/// be compiled when all others are; a build of tests makes all products.
let endToEndTests: Target = .testTarget(
  name: "EngageBatchTests",
  dependencies: [
    "BatchSandbox", "EngageSandbox", "BatchFoundation", "BatchStore", "DeltaDNASandbox",
    "EngageIdentity", "LoopbackServer", "StoreSupport", "TestSupport", "UnitySandbox", "BatchIngest",
    "DeltaDNAEvents", "EngageEvents",
  ],
  swiftSettings: testSettings)

/// Links, references and commands of the pages.
let documentationTests: Target = .testTarget(
  name: "DocumentationTests", dependencies: ["TestSupport"], swiftSettings: testSettings)

/// Readers of foreign bytes: mutated seeds, and own readers beside others. `make fuzz` looks longer.
let fuzzTests: Target = .testTarget(
  name: "FuzzTests",
  dependencies: [
    "BatchExpressions", "BatchFoundation", "BatchConfiguration", "BatchIngest", "BatchMaps", "BatchSandbox",
    "BatchStore",
    "BatchXML", "DeltaDNAEvents", "DeltaDNARules", "EngageAPI", "EngageEvents", "EngageIdentity",
    "EngageRules", "TestSupport",
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
      "AllocationCounter", "BatchFoundation", "BatchConfiguration", "BatchIngest", "EngageEvents",
      "EngageRules", "BatchStore", "EngageIdentity", "EngagePlatform",
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
    .target(name: "CEmbedded", path: "Sources/System/CEmbedded"),
    .target(name: "CLinux", path: "Sources/System/CLinux"),
    .systemLibrary(name: "CZlib", path: "Sources/System/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "LibXML2", path: "Sources/System/LibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .target(name: "CLibXML2", dependencies: ["LibXML2"], path: "Sources/System/CLibXML2"),
    .target(
      name: "LoopbackServer", dependencies: ["BatchFoundation"], path: "Tests/LoopbackServer", swiftSettings: settings),
    .target(
      name: "TestSupport",
      dependencies: ["BatchFoundation", "BatchConfiguration", "BatchHTTP", "BatchIngest", "BatchStore"],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    .target(
      name: "StoreSupport",
      dependencies: [
        "BatchFoundation", "BatchStore", "EngageEvents", "EngageIdentity", "TestSupport",
        grdb, .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      path: "Tests/StoreSupport", swiftSettings: settings),
    .target(
      name: "DestinationContract",
      dependencies: [
        "BatchFoundation", "BatchHTTP", "BatchStore", "BatchDelivery", "LoopbackServer", "StoreSupport",
        "TestSupport",
      ],
      path: "Tests/DestinationContract", swiftSettings: settings),
    .target(
      name: "StepPlatform",
      dependencies: [
        "BatchConfiguration", "BatchDelivery", "BatchFoundation", "BatchHTTP", "BatchIngest", "BatchPlatform",
        "BatchReport", "BatchStore",
      ], path: "Tests/StepPlatform", swiftSettings: testSettings),
    .target(
      name: "RecipientModel", dependencies: ["BatchFoundation", "EngageEvents", "EngageIdentity"],
      path: "Tests/Platforms/Engage/RecipientModel", swiftSettings: settings),
    .executableTarget(name: "engage-batch", dependencies: ["BatchCommands", "CMalloc"], swiftSettings: settings),
  ] + libraries + (tests + [endToEndTests, documentationTests, fuzzTests]).filter(isChosen) + microBenchmarks,
  swiftLanguageModes: [.v6]
)
