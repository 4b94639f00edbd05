import BatchConfiguration
import BatchFoundation
import BatchPipeline
import Engage
import EngageRules
import EventSchemas
import Games

/// The kind of events that a schema describes.
protocol SchemaSubject {
  static var subject: EventSchema.Subject { get }
  static var platform: any Platform { get }
  /// Adds an event in the form of `--events-out`, made with these settings.
  static func add(_ event: JSONView, _ settings: Settings, to inference: inout SchemaInference)
}

enum GameSchema: SchemaSubject {
  static var subject: EventSchema.Subject { .game }
  static var platform: any Platform { DeltaDNAPlatform() }

  static func add(_ event: JSONView, _ settings: Settings, to inference: inout SchemaInference) {
    guard let name = event["eventName"]?.string, let parameters = event["eventParams"] else { return }
    inference.add(event: name, parameters: parameters)
  }
}

enum AppSchema: SchemaSubject {
  static var subject: EventSchema.Subject { .app }
  static var platform: any Platform { EngagePlatform() }

  static func add(_ event: JSONView, _ settings: Settings, to inference: inout SchemaInference) {
    guard let code = event["eventTypeCode"]?.string, var elements = event["attributes"]?.elements else { return }
    var attributes: [(name: Text, value: Text)] = []
    while let attribute = elements.next() {
      guard let name = attribute["name"]?.string, let value = attribute["value"]?.string else { continue }
      attributes.append((name, value))
    }
    let naming = [AutomaticField.eventName, .goalName].map { settings.attributeNames[$0].utf8 }
    let name = attributes.first { attribute in
      !attribute.value.isEmpty && naming.contains { $0.elementsEqual(attribute.name) }
    }
    Array((name.map { "\(code) \($0.value)" } ?? code.description).utf8).withText {
      inference.add(event: $0, attributes: attributes.dropFirst(CoreAttribute.allCases.count))
    }
  }
}
