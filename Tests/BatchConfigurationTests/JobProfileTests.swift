import BatchFoundation
import TestSupport
import Testing

@testable import BatchConfiguration

/// `profiles` of a job and `--profile` (reference formats 1.6).
@Suite struct JobProfileTests {
  static let job = """
    {"name": "j", "inputs": {"events": ["e"], "deepLinks": ["l"]}, "store": "s.sqlite",
     "settings": {"Upload": {"concurrency": 2, "patience": "1 minute"}},
     "profiles": {
       "live": {"store": "${STORE}", "inputs": {"events": ["live"]},
         "settings": {"Upload": {"concurrency": 8}}},
       "empty": null}}
    """

  @Test func oneIsLaidOverTheJob() throws {
    let folder = try TemporaryFolder(["job.json": Self.job])
    let plain = try folder.loader().load(job: "job.json")
    #expect(plain.job.store == folder.path + "/s.sqlite")
    #expect(plain.configuration.settings.upload.concurrency == 2)
    #expect(
      plain.job.profiles == [
        JobProfile(name: "live", keys: ["store", "inputs.events", "settings.Upload.concurrency"]),
        JobProfile(name: "empty", keys: []),
      ])
    let live = try folder.loader(["STORE": "live.sqlite"]).load(job: "job.json", CommandLineChanges(profile: "live"))
    #expect(live.job.profile == "live")
    #expect(live.job.store == folder.path + "/live.sqlite")
    #expect(live.job.inputs.events.flatMap(\.patterns) == [folder.path + "/live"])
    #expect(live.job.inputs.deepLinks.flatMap(\.patterns) == [folder.path + "/l"])
    #expect(live.configuration.settings.upload.patience == Milliseconds(60_000))
    let chain = try #require(live.configuration.resolved(named: "Upload.concurrency")).chain
    #expect(chain.map(\.layer) == [.defaults, .job, .profile])
    #expect(chain.map(\.place.description) == ["built-in default", "job.json:2", "job.json:5"])
    #expect(live.configuration.settings.upload.concurrency == 8)
    #expect(
      try folder.loader().load(job: "job.json", CommandLineChanges(profile: "empty")).job.store == plain.job.store)
  }

  @Test(
    arguments: [
      (#""live": {}"#, "lvie", "job.json: error: the job has no profile 'lvie'; did you mean 'live'?"),
      ("", "live", "job.json: error: the job has no profile 'live'; it has no profiles"),
      (
        #""live": {"stor": "s"}"#, nil,
        "job.json:1: error: unknown key 'profiles.live.stor'; did you mean 'profiles.live.store'?"
      ),
      (#""live": []"#, nil, "job.json:1: error: 'profiles.live' is an array, but must be an object"),
      (#""live": {}, "live": {}"#, nil, "job.json:1: error: key 'profiles.live' is set twice (first on line 1)"),
      (
        #""live": {"store": "a", "store": "b"}"#, nil,
        "job.json:1: error: key 'profiles.live.store' is set twice (first on line 1)"
      ),
      (
        #""live": {"settings": {"Connection": {"secret": "canary"}}}"#, nil,
        "job.json:1: error: 'profiles.live.settings.Connection.secret' is a secret, which profiles cannot contain; in each environment, set the secret's variable NAME, or set NAME_FILE to the path of a file with the secret"
      ),
      (
        #""live": {"settings": {"Upload": {"concurrency": "${N}"}}}"#, "live",
        "job.json:1: error: 'profiles.live.settings.Upload.concurrency' names the variable N, which is not set; set the variable, or write ${N:-default}"
      ),
    ] as [(String, String?, String)])
  func refuses(profiles: String, chosen: String?, message: String) throws {
    let folder = try TemporaryFolder([
      "job.json": #"{"name": "j", "inputs": {"events": ["e"]}, "profiles": {\#(profiles)}}"#
    ])
    #expect {
      try folder.loader().load(job: "job.json", CommandLineChanges(profile: chosen))
    } throws: { error in
      guard let errors = error as? ConfigurationErrors else { return false }
      #expect(errors.description == message)
      return true
    }
  }
}
