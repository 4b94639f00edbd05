import Foundation
import LoopbackServer
import Testing

@testable import BatchHTTP

/// Certificates against a real TLS server (`openssl s_server`).
@Suite struct TLSTests {
  /// A server with a self-signed certificate for `name`, on a port of its own.
  final class Server {
    let port: Int
    let certificate: URL
    private let folder: URL
    private let process = Process()

    init(name: String) throws {
      // A port that was free a moment ago.
      port = try LoopbackServer { _ in }.port
      folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      certificate = folder.appending(path: "cert.pem")
      let key = folder.appending(path: "key.pem").path
      let make = Process()
      make.executableURL = URL(filePath: "/usr/bin/openssl")
      make.arguments = [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
        "/CN=\(name)", "-addext", "subjectAltName=\(name.first?.isNumber == true ? "IP" : "DNS"):\(name)", "-keyout",
        key,
        "-out", certificate.path,
      ]
      make.standardError = FileHandle.nullDevice
      try make.run()
      make.waitUntilExit()
      process.executableURL = make.executableURL
      process.arguments = [
        "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate.path, "-key", key, "-www", "-quiet",
      ]
      process.standardInput = Pipe()
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      let address = try ServiceAddress("http://127.0.0.1:\(port)")
      for _ in 0..<100 {
        if case .noAnswer = HTTPClient().send(HTTPRequest(.get, address, "/", totalSeconds: 1)) { return }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }

    deinit {
      // Not `terminate()`: the child inherits the signal mask of whichever thread started it, and may not see SIGTERM.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      do { try FileManager.default.removeItem(at: folder) } catch { print("left \(folder.path): \(error)") }
    }
  }

  func send(_ server: Server, authorities: String?) throws -> HTTPOutcome {
    let address = try ServiceAddress("https://127.0.0.1:\(server.port)")
    return HTTPClient(HTTPSettings(authorities: authorities)).send(
      HTTPRequest(.get, address, "/", headers: [.init("Authorization", "Bearer T1")], totalSeconds: 10))
  }

  @Test func anUnknownCertificateIsRefusedAndAKnownOneTaken() throws {
    let server = try Server(name: "127.0.0.1")
    expectNotSent(try send(server, authorities: nil), .tls)
    let outcome = try send(server, authorities: server.certificate.path)
    guard case .answer(let answer) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(answer.status == 200)
  }

  @Test func aCertificateForAnotherHostIsRefused() throws {
    let server = try Server(name: "other.test")
    expectNotSent(try send(server, authorities: server.certificate.path), .tls)
  }

  @Test func aMissingFileOfAuthoritiesIsRefused() throws {
    let address = try ServiceAddress("https://127.0.0.1:1")
    let client = HTTPClient(HTTPSettings(authorities: "/nonexistent.pem"))
    guard case .notSent = client.send(HTTPRequest(.get, address, "/")) else {
      Issue.record("sent")
      return
    }
  }
}
