import BatchFoundation
import Foundation
import LoopbackServer
import TestSupport
import Testing

@testable import BatchWire

/// Certificates against a real TLS server (`openssl s_server`).
@Suite struct TLSTests {
  /// Its refusals that mean "not processed" would count as unknown (docs/architecture.md).
  @Test func offersNoHTTP2() throws {
    let hello = Guarded<[UInt8]>([])
    let server = try LoopbackServer { connection in
      let bytes = connection.readSome()
      hello.withLock { $0 = bytes }
    }
    let address = try ServiceAddress("https://127.0.0.1:\(server.port)")
    _ = HTTPClient(.test()).send(HTTPRequest(.get, address, "/", totalSeconds: 5))
    let bytes = hello.withLock { $0 }
    #expect(bytes.firstRange(of: Array("\u{8}http/1.1".utf8)) != nil, "\(bytes.count) bytes")
    #expect(bytes.firstRange(of: Array("\u{2}h2".utf8)) == nil)
  }

  /// A server with a self-signed certificate for `name`, on a port of its own.
  final class Server {
    let port: Int
    let certificate: URL
    private let folder: URL
    private let process = Process()

    /// - Parameter days: how long the certificate is valid from now on.
    init(name: String, days: Int = 2) throws {
      // A port that was free a moment ago.
      port = try LoopbackServer { _ in }.port
      folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      certificate = folder.appending(path: "cert.pem")
      let key = folder.appending(path: "key.pem").path
      let request = folder.appending(path: "request.pem").path
      let extensions = folder.appending(path: "extensions")
      try Data("subjectAltName=\(name.first?.isNumber == true ? "IP" : "DNS"):\(name)".utf8).write(to: extensions)
      try Self.openssl(
        "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(name)",
        "-keyout", key, "-out", request)
      try Self.openssl(
        "x509", "-req", "-in", request, "-signkey", key, "-days", "\(days)", "-extfile", extensions.path, "-out",
        certificate.path)
      process.executableURL = URL(filePath: "/usr/bin/openssl")
      process.arguments = [
        "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate.path, "-key", key, "-www", "-quiet",
      ]
      process.standardInput = Pipe()
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      let address = try ServiceAddress("http://127.0.0.1:\(port)")
      for _ in 0..<100 {
        if case .noAnswer = HTTPClient(.test()).send(HTTPRequest(.get, address, "/", totalSeconds: 1)) { return }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }

    private static func openssl(_ arguments: String...) throws {
      let make = Process()
      make.executableURL = URL(filePath: "/usr/bin/openssl")
      make.arguments = arguments
      make.standardError = FileHandle.nullDevice
      try make.run()
      make.waitUntilExit()
      try #require(make.terminationStatus == 0)
    }

    deinit {
      // Not `terminate()`: the child inherits the signal mask of whichever thread started it, and may not see SIGTERM.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      do { try FileManager.default.removeItem(at: folder) } catch { print("left \(folder.path): \(error)") }
    }
  }

  /// - Parameter authorities: a file of certificates.
  func send(_ server: Server, authorities: String?) throws -> HTTPOutcome {
    let authorities = try authorities.map { Array(try Data(contentsOf: URL(filePath: $0))) }
    let address = try ServiceAddress("https://127.0.0.1:\(server.port)")
    return HTTPClient(.test(authorities: authorities)).send(
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

  @Test func whatIsWrongWithACertificateIsSaid() throws {
    func certificate(_ server: Server, trusted: Bool) throws -> HTTPFault.Certificate? {
      let outcome = try send(server, authorities: trusted ? server.certificate.path : nil)
      guard case .notSent(let fault) = outcome else {
        Issue.record("\(outcome)")
        return nil
      }
      #expect(fault.kind == .tls)
      return fault.certificate
    }
    #expect(try certificate(Server(name: "127.0.0.1"), trusted: false) == .selfSigned)
    #expect(try certificate(Server(name: "other.test"), trusted: true) == .wrongHost)
    #expect(try certificate(Server(name: "127.0.0.1", days: -1), trusted: true) == .expired)
  }

  @Test func authoritiesThatCannotBeReadAreSaid() throws {
    let server = try Server(name: "127.0.0.1")
    let address = try ServiceAddress("https://127.0.0.1:\(server.port)")
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    let client = HTTPClient(.test(authorities: Array(damaged.utf8)))
    expectNotSent(client.send(HTTPRequest(.get, address, "/")), .authorities)
  }
}
