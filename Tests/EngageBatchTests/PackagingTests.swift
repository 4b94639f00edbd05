import BatchFoundation
import FoundationEssentials
import TestSupport
import Testing

/// What `make install` and `make package` put onto a machine.
@Suite("Installed files") struct PackagingTests {
  private static let copies = [
    "scripts", "docs", "configs", "jobs", "samples", "deploy", "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
    "LICENSE", "NOTICES.md", "SECURITY.md", "Benchmarks",
  ]

  @Test("Program, a man page for each command, completions, units and pages")
  func install() throws {
    let workspace = try Workspace(Self.copies)
    let installed = try workspace.shell("scripts/install '\(Checkout.binary)' to /opt/e")
    #expect(installed.code == 0, "\(installed.messages)")
    let version = try workspace.start(program: workspace.path + "/to/bin/engage-batch", ["--version"]).finish()
    #expect(
      version.lines.first == "engage-batch 0.1.0" || version.lines.first?.hasPrefix("engage-batch 0.1.0 (") == true)
    let help = try JSONNode.parse(Array(workspace.run("--experimental-dump-help").output.utf8))
    let pages = try FileManager.default.contentsOfDirectory(atPath: workspace.path + "/to/share/man/man1")
    #expect(pages.sorted() == Self.commands(try #require(help["command"]), []).map { "\($0).1" }.sorted())
    #expect(pages.count > 30)
    for file in [
      "share/bash-completion/completions/engage-batch", "share/zsh/site-functions/_engage-batch",
      "share/fish/vendor_completions.d/engage-batch.fish", "share/doc/engage-batch/docs/schedule.md",
      "share/doc/engage-batch/LICENSE", "lib/systemd/system/engage-batch@.timer",
    ] {
      #expect(try !workspace.read("to/\(file)").isEmpty)
    }
    let unit = try workspace.read("to/lib/systemd/system/engage-batch@.service")
    #expect(unit.contains("ExecStart=/opt/e/bin/engage-batch run "))
    #expect(unit.contains("file:/opt/e/share/doc/engage-batch/docs/schedule.md"))
    #expect(try workspace.shell("bash -n to/share/bash-completion/completions/engage-batch").code == 0)
  }

  @Test("A page has the options of its command, and no line that a formatter takes for a request")
  func page() throws {
    let workspace = try Workspace(["scripts"])
    #expect(try workspace.shell("scripts/manual '\(Checkout.binary)' man 2026-01-01").code == 0)
    let page = try workspace.read("man/engage-batch-store-purge.1")
    #expect(page.hasPrefix(".TH \"ENGAGE\\-BATCH\\-STORE\\-PURGE\" 1 \"2026-01-01\" \"engage\\-batch 0.1.0"))
    #expect(page.contains(".TP\n\\fB\\-\\-days\\fR \\fIdays\\fR\nDays to keep posted events."))
    let run = try workspace.read("man/engage-batch-run.1")
    #expect(run.contains(".SS Window\n.TP\n\\fB\\-\\-from\\fR \\fIfrom\\fR\n"))
    #expect(run.contains(".SH EXAMPLES\nengage\\-batch run jobs/nightly.json \\-\\-sandbox\n"))
    #expect(run.contains(".SH ENVIRONMENT\n.TP\n\\fBENGAGE_LIST_ID\\fR\nsetting General.databaseListId\n"))
    #expect(run.contains(".SH FILES\n.TP\n\\fBSTORE\\fR\n"))
    for line in (page + run).split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect([".TH", ".SH", ".SS", ".TP", ".B"].contains(line.split(separator: " ").first ?? ""), "\(line)")
    }
  }

  @Test(
    "The Debian package names what it needs and holds what is installed",
    .needs(.dpkg))
  func package() throws {
    let workspace = try Workspace(Self.copies)
    let made = try workspace.shell("scripts/package '\(Checkout.binary)' out", environment: ["COMPRESSION": "none"])
    #expect(made.code == 0, "\(made.messages)")
    let package = try #require(made.lines.last)
    let depends = try workspace.shell("dpkg-deb --field '\(package)' Depends").output
    for name in [
      "libc6 (>= 2.", "libcurl4", "liblz4-1", "libsqlite3-0", "libssl3", "libxml2", "zlib1g", "ca-certificates",
    ] {
      #expect(depends.contains(name), "\(depends)")
    }
    let copyright = try workspace.shell(
      "dpkg-deb --fsys-tarfile '\(package)' | tar -xO ./usr/share/doc/engage-batch/copyright")
    #expect(try copyright.output == Checkout.text("LICENSE") + Checkout.text("NOTICES.md"))
    let files = try workspace.shell("dpkg-deb --contents '\(package)'").lines
    for (mode, file) in [
      ("-rwxr-xr-x root/root", "./usr/bin/engage-batch"), ("drwx------ root/root", "./etc/engage-batch/credentials/"),
      ("-rw-r--r-- root/root", "./usr/lib/systemd/system/engage-batch-purge@.timer"),
      ("-rw-r--r-- root/root", "./usr/share/man/man1/engage-batch-run.1.gz"),
      ("-rw-r--r-- root/root", "./usr/share/zsh/vendor-completions/_engage-batch"),
      ("-rw-r--r-- root/root", "./usr/share/doc/engage-batch/copyright"),
    ] {
      #expect(files.contains { $0.hasPrefix(mode) && $0.hasSuffix(" \(file)") }, "\(file)")
    }
  }

  @Test("The notices name every package that is linked in")
  func notices() throws {
    let notices = try Checkout.text("NOTICES.md")
    let packages = try Checkout.text("Package.swift").matches(of: /\.package\(url: "([^"]*)"/).map {
      String($0.output.1)
    }
    .filter { !$0.hasSuffix("docc-plugin") }
    #expect(packages.count == 2)
    for package in packages { #expect(notices.contains("| \(package) |"), "\(package)") }
  }

  /// The names of the pages of a command and those below it.
  private static func commands(_ command: JSONNode, _ above: [String]) -> [String] {
    guard let name = command["commandName"]?.string, name != "help" else { return [] }
    let path = above + [name]
    return [path.joined(separator: "-")] + (command["subcommands"]?.array ?? []).flatMap { commands($0, path) }
  }
}
