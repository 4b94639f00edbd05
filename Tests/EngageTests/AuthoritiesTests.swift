import BatchConfiguration
import BatchPipeline
import BatchWire
import FoundationEssentials
import TestSupport
import Testing

@Suite struct AuthoritiesTests {
  @Test func aFileOfAuthoritiesAddsToThoseOfTheSystem() throws {
    let added = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    let folder = try TemporaryFolder(["ca.pem": added])
    var connection = Settings.defaults.connection
    #expect(try HTTPSettings(connection).authorities == nil)
    connection.caFile = folder.path + "/ca.pem"
    let trusted = try #require(try HTTPSettings(connection).authorities)
    let system = Array(try Data(contentsOf: URL(filePath: try #require(HTTPClient.systemAuthorities))))
    #expect(!system.isEmpty)
    #expect(trusted == system + Array("\n\(added)".utf8))
  }
}
