import ArgumentParser
import BatchConfiguration

/// The end of each command's help: an example and, for a run, its environment and files.
enum Examples {
  /// The examples by the words of the command, without the name of the program.
  static let byCommand: [String: String] = [
    "init": "init mine",
    "backfill":
      "backfill jobs/nightly.json --from 2026-01-15T00:00:00Z --to 2026-01-16T00:00:00Z --sandbox",
    "rerun":
      "rerun jobs/nightly.json --from 2026-01-15T00:00:00Z --to 2026-01-16T00:00:00Z --sandbox --dry-run",
    "run": "run jobs/nightly.json --sandbox",
    "validate": "validate jobs/nightly.json --limit 50",
    "test": "test jobs/nightly.json jobs/game.json",
    "compare": "compare jobs/nightly.json --with 'Session.sessionLifecycleExpiration=10 minutes'",
    "post": "post jobs/nightly.json",
    "partition": "partition jobs/backfill.json --parts 8 --out var/partition",
    "decide": "decide jobs/backfill.json --partition var/partition --part 0 --out var/results/0",
    "collect": "collect jobs/backfill.json var/results/0 var/results/1",
    "verify": "verify jobs/nightly.json --sandbox",
    "history": "history --store var/nightly.sqlite --limit 7",
    "report": "report --store var/nightly.sqlite --run 3 --report var/reports",
    "why": "why --device A1F0C9D2-0001 --at 2026-01-15T09:00:00Z --store var/nightly.sqlite",
    "explain": "explain line-too-long",
    "config show": "config show jobs/nightly.json",
    "config explain": "config explain Session.sessionLifecycleExpiration --job jobs/nightly.json",
    "config check": "config check jobs/nightly.json",
    "config schema": "config schema",
    "expiration": "expiration '1 day 12 hours' --from 2026-01-15T08:00:00Z",
    "link": "link 'player://test/5?CurrentCampaign=spring' --routes configs/MobileDeepLinkingConfig.json",
    "store drop-partition": "store drop-partition --store var/nightly.sqlite",
    "store status": "store status jobs/nightly.json",
    "store events": "store events jobs/nightly.json --type 17 --from 2026-01-15T08:00:00Z --limit 20",
    "store sessions": "store sessions jobs/nightly.json --status paused",
    "store campaigns": "store campaigns jobs/nightly.json --campaign 'Spring Sale' --status active",
    "store check": "store check --store var/nightly.sqlite",
    "store backup": "store backup var/backup.sqlite --store var/nightly.sqlite",
    "store restore": "store restore s3://states/nightly.sqlite --job jobs/nightly.json",
    "store salvage": "store salvage --store var/nightly.sqlite --to var/saved.sqlite",
    "store requeue": "store requeue --store var/nightly.sqlite --status FAILED_POST",
    "store purge": "store purge --store var/nightly.sqlite --days 30",
    "store corrections": "store corrections --store var/nightly.sqlite",
    "store erasures": "store erasures --store var/nightly.sqlite",
    "forget": "forget jobs/nightly.json --device A1F0C9D2-0001 --sandbox --dry-run",
    "person export": "person export ada@example.com --job jobs/nightly.json --out var/ada.ndjson",
    "store rebind": "store rebind jobs/nightly.json",
    "quarantine list": "quarantine list --store var/nightly.sqlite --reason invalid-json",
    "quarantine replay": "quarantine replay jobs/nightly.json",
    "quarantine resolve": "quarantine resolve --store var/nightly.sqlite --reason invalid-json",
    "identity list": "identity list --store var/nightly.sqlite --open",
    "identity show": "identity show 7 --store var/nightly.sqlite",
    "identity resume": "identity resume 7 --job jobs/nightly.json",
    "identity undo": "identity undo 7 --job jobs/nightly.json",
    "identity abandon": "identity abandon 7 --store var/nightly.sqlite",
    "identity renew": "identity renew 900000000202 --store var/nightly.sqlite",
    "identity export": "identity export --store var/nightly.sqlite --show-personal-data",
    "identity link":
      "identity link --anonymous 1001 --primary ada@example.com --merge-column merge_id --job jobs/nightly.json",
    "sandbox": "sandbox --port 8080 --state var/sandbox.json",
    "doctor": "doctor jobs/nightly.json",
    "service prepare": "service prepare jobs/nightly.json --sandbox --dry-run",
    "xmlapi": "xmlapi GetLists --param VISIBILITY=1 --param LIST_TYPE=2",
    "schema": "schema job",
    "map show": "map show segment",
    "map try": "map try segment samples/maps/segment.ndjson",
    "stream": "stream jobs/nightly.json",
    "engage schema check": "engage schema check schema.json",
    "engage schema infer": "engage schema infer samples/events",
    "deltadna schema check": "deltadna schema check configs/deltadna-schema.json",
    "deltadna schema infer": "deltadna schema infer samples/game/events.ndjson",
    "deltadna triggers explain":
      "deltadna triggers explain --configuration samples/game/session-configuration.json --event event.json",
  ]

  /// Returns the end of the help that the arguments request: the example and, for a run, its environment and
  /// files; nil for groups of commands and anything else.
  static func asked(by arguments: [String], below root: any ParsableCommand.Type) -> String? {
    let words = arguments.filter { $0 != "help" && $0.utf8.first != UInt8(ascii: "-") }
    let name = root.innermost(named: words).path.joined(separator: " ")
    return byCommand[name].map { example in
      var sections = ["EXAMPLE: engage-batch \(example)"]
      if name == "run" { sections += [section("ENVIRONMENT", environment), section("FILES", files)] }
      return sections.joined(separator: "\n\n")
    }
  }

  private static func section(_ title: String, _ rows: [(name: String, meaning: String)]) -> String {
    let width = rows.map(\.name.utf8.count).max() ?? 0
    return rows.reduce(into: "\(title):") { text, row in
      text += "\n  \(row.name)\(String(repeating: " ", count: width - row.name.utf8.count))  \(row.meaning)"
    }
  }

  private static var environment: [(name: String, meaning: String)] {
    EnvironmentVariables.all.map { ($0.name, "setting \($0.setting)") } + [
      ("..._FILE", "for each of these: the path of a file with the value"),
      ("TMPDIR", "folder for temporary files (default: /tmp)"),
      ("TZDIR", "time zone database (default: /usr/share/zoneinfo)"),
      ("NO_COLOR", "if not empty: no colors"),
    ]
  }

  private static let files: [(name: String, meaning: String)] = [
    ("STORE", "events, device states and upload ledger (the job's 'store')"),
    ("STORE.lock", "names the process that is writing to STORE"),
    ("STORE-wal, STORE-shm", "changes that are not yet in STORE"),
    ("REPORTS/JOB-TIME/", "report.html, report.json and summary.json of a run (in the job's 'reports')"),
    ("REPORTS/index.html", "all runs of the store"),
  ]
}
