import BatchSandbox
import TestSupport
import Testing

/// One event of a hundred at which the service fails, as a job meets it (reference decisions 38).
@Suite("Services that fail at one event") struct PoisonedServiceTests {
  static let actions: [FaultAction] = [500, 502, 503].map { .status($0, headers: [:], body: "") } + [.close, .reset]
  static let engageActions = actions + [408, 425].map { .status($0, headers: [:], body: "") }
  static let hasty = [
    "--set", "Networking.retryDelay=0s", "--set", "Networking.maxRetryDelay=0s", "--summary", "-",
  ]

  private func isUnknown(_ action: FaultAction) -> Bool {
    if case .status(let status, _, _) = action { return ![408, 425, 503].contains(status) }
    return true
  }

  private func lines(_ line: (Int) -> String) -> String { (0..<100).map(line).joined(separator: "\n") + "\n" }

  private func engage(_ action: FaultAction, text: String? = "POISON") throws -> (Workspace, Service) {
    let workspace = try Workspace([])
    var options = EngageSandboxOptions()
    options.server.faults.rules = [FaultRule(endpoint: .events, text: text, action: action)]
    try workspace.write(
      "in.ndjson",
      lines { number in
        let time = Recording.start + Int64(number) * 1000
        return
          #"{"deviceId":"D","timestamp":\#(time),"type":"namedEvent","name":"\#(number == 37 ? "POISON" : "n")","mobileUserId":"M"}"#
      })
    try workspace.write(
      "job.json",
      #"{"name": "poison", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-02-01T00:00:00Z", "store": "s.sqlite"}"#)
    return (workspace, try Service(options))
  }

  @Test(
    "Engage: the others are posted, and the one has its reason", arguments: engageActions,
    Sweep.cases([100, 10], short: 1))
  func engageResends(action: FaultAction, perRequest: Int) throws {
    let (workspace, service) = try engage(action)
    let run = try workspace.run(
      ["run", "job.json", "--set", "Upload.maxEventsPerRequest=\(perRequest)"] + Self.hasty,
      environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    let summary = try Summary(run.output)
    #expect(summary["upload.eventsFailed"] == 1)
    #expect(summary["store.FAILED_POST"] == 1)
    #expect(summary["upload.eventsPosted"] == service.events.count)
    #expect(service.events.count >= 99 && Set(service.events).count == service.events.count)
    let failed = try workspace.run("store", "events", "--store", "s.sqlite", "--status", "FAILED_POST")
    #expect(failed.output.ranges(of: "FAILED_POST").count == 1, "\(failed.output)")
    if case .status(let status, _, _) = action { #expect(failed.output.contains("\(status)"), "\(failed.output)") }
  }

  /// It was posted, and its quarantine went on telling that the service had refused it.
  @Test("An event that goes out again waits in quarantine no more")
  func requeued() throws {
    let (workspace, service) = try engage(.status(400, headers: [:], body: ""))
    func send(_ line: String) throws {
      let finished = try workspace.run(
        line.split(separator: " ").map(String.init) + Self.hasty, environment: service.environment)
      #expect(finished.code == 0, "\(line): \(finished.messages)")
    }
    func waiting() throws -> Int {
      let listed = try workspace.run("quarantine", "list", "--store", "s.sqlite", "--format", "json")
      return listed.output.ranges(of: "rejected-by-service").count
    }
    func requeue() throws {
      let requeued = try workspace.run("store", "requeue", "--store", "s.sqlite", "--status", "FAILED_POST")
      #expect(requeued.code == 0, "\(requeued.messages)")
    }
    try send("run job.json")
    #expect(try waiting() == 1)
    try requeue()
    #expect(try waiting() == 0)
    service.server.setFaults(FaultPlan())
    try send("post job.json")
    #expect(try waiting() == 0)
    #expect(Set(service.events).count == service.events.count)
  }

  @Test("Engage: 'hold' holds what is unknown whole, and finds the one where it is not", arguments: engageActions)
  func engageHolds(action: FaultAction) throws {
    let (workspace, service) = try engage(action)
    let run = try workspace.run(
      ["run", "job.json", "--set", "Upload.maxEventsPerRequest=10", "--set", "Upload.onUnknown=hold"] + Self.hasty,
      environment: service.environment)
    let summary = try Summary(run.output)
    #expect(run.code == (isUnknown(action) ? 76 : 0), "\(run.messages)")
    #expect(summary["store.UNKNOWN"] == (isUnknown(action) ? 10 : 0))
    #expect(summary["store.FAILED_POST"] == (isUnknown(action) ? 0 : 1))
    // Once more where nothing else had been taken by its third attempt (docs/guarantees.md, "When a request fails").
    #expect((isUnknown(action) ? 0...0 : 2...3).contains(summary["upload.retries"]))
  }

  @Test(
    "Engage: a service that is out fails nothing, and everything is sent when it is back",
    arguments: Sweep.cases(actions, short: 3))
  func engageOutage(action: FaultAction) throws {
    let (workspace, service) = try engage(action, text: nil)
    for _ in 0..<2 {
      let run = try workspace.run(
        ["run", "job.json", "--set", "Upload.patienceAtStart=1s"] + Self.hasty, environment: service.environment)
      #expect(run.code == 69, "\(run.messages)")
      #expect(try Summary(run.output)["store.FAILED_POST"] == 0)
    }
    service.server.setFaults(FaultPlan())
    let run = try workspace.run(["run", "job.json"] + Self.hasty, environment: service.environment)
    #expect(run.code == 0, "\(run.messages)")
    #expect(Set(service.events).count == service.events.count)
    #expect(try Summary(run.output)["upload.eventsPosted"] == service.events.count)
  }

  /// A service of games, whose endpoint for events takes a rule.
  enum GameService: String, CaseIterable {
    case deltadna, unity

    var endpoint: SandboxEndpoint { self == .unity ? .unityCollect : .collect }

    fileprivate var endpoints: any SandboxPlatform { self == .unity ? UnityEndpoints() : DeltaDNAEndpoints() }

    fileprivate func settings(_ address: String) -> String {
      switch self {
      case .deltadna: #""collectURL": "\#(address)/collect/api", "environmentKey": "KEY","#
      case .unity: ""
      }
    }

    fileprivate func more(_ address: String) -> String {
      switch self {
      case .deltadna: ""
      case .unity:
        #", "Unity": {"collectUrl": "\#(address)/api/analytics/collect/v1", "projectId": "p", "environment": "e"}"#
      }
    }
  }

  private func collect(_ service: GameService, _ rules: [FaultRule]) throws -> (Workspace, SandboxServer) {
    let workspace = try Workspace([])
    var settings = SandboxSettings()
    settings.faults.rules = rules
    let server = try SandboxServer.start(settings, [service.endpoints])
    try workspace.write(
      "in.ndjson",
      lines { number in
        let time = Recording.start + Int64(number) * 1000
        return
          #"{"deviceId":"d","timestamp":\#(time),"type":"gameEvent","name":"\#(number == 37 ? "poison" : "levelUp")","params":{}}"#
      })
    try workspace.write(
      "job.json",
      #"{"name": "g", "destination": "\#(service.rawValue)", "inputs": {"events": ["in.ndjson"]}, "asOf": "2026-01-16T00:00:00Z","#
        + #""store": "s.sqlite", "settings": {"DeltaDNA": {\#(service.settings(server.baseURL))"#
        + #""httpRequestMaxTries": 2, "httpRequestRetryDelaySeconds": 0}\#(service.more(server.baseURL))}}"#)
    return (workspace, server)
  }

  @Test(
    "Collect and Unity: the others are posted in their order, and an outage ends with 69", arguments: actions,
    GameService.allCases)
  func collects(action: FaultAction, service: GameService) throws {
    let (workspace, server) = try collect(
      service, [FaultRule(endpoint: service.endpoint, text: "poison", action: action)])
    let run = try workspace.run(["run", "job.json", "--summary", "-"], environment: [:])
    #expect(run.code == 0, "\(run.messages)")
    #expect(try Summary(run.output)["store.FAILED_POST"] == 1)
    #expect(try Summary(run.output)["upload.eventsPending"] == 0)
    let (other, out) = try collect(service, [FaultRule(endpoint: service.endpoint, action: action)])
    for _ in 0..<2 {
      let failed = try other.run(["run", "job.json", "--summary", "-"], environment: [:])
      #expect(failed.code == 69, "\(failed.messages)")
      #expect(try Summary(failed.output)["store.FAILED_POST"] == 0)
    }
    out.setFaults(FaultPlan())
    let back = try other.run(["run", "job.json", "--summary", "-"], environment: [:])
    #expect(back.code == 0, "\(back.messages)")
    #expect(try Summary(back.output)["upload.eventsPosted"] >= 100)
    try server.stop()
    try out.stop()
  }
}
