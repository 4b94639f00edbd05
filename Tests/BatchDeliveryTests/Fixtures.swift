import BatchDelivery
import BatchFoundation
import BatchWire
import DestinationContract
import StoreSupport

/// Answers as the test says, in place of a service.
final class ScriptedDestination: Destination {
  private struct State {
    var bodies: [[UInt8]] = []
    var inFlight = 0
    var mostInFlight = 0
    var aborted = false
  }

  private let state = Guarded(State())
  private let answer: @Sendable (_ body: String, _ number: Int) -> SendOutcome
  let form = 0
  let traits: DeliveryTraits

  /// - Parameter answer: called with each body and how many requests had been sent before.
  init(
    _ traits: DeliveryTraits = DeliveryTraits(), _ answer: @escaping @Sendable (String, Int) -> SendOutcome
  ) {
    self.traits = traits
    self.answer = answer
  }

  func send(_ body: [UInt8], group: Int) -> SendOutcome {
    let number = state.withLock { state in
      state.bodies.append(body)
      state.inFlight += 1
      state.mostInFlight = max(state.mostInFlight, state.inFlight)
      return state.bodies.count - 1
    }
    let outcome = answer(String(decoding: body, as: UTF8.self), number)
    state.withLock { $0.inFlight -= 1 }
    return outcome
  }

  func abort() { state.withLock { $0.aborted = true } }

  var isAborted: Bool { state.withLock { $0.aborted } }
  var mostInFlight: Int { state.withLock { $0.mostInFlight } }
  var bodies: [String] { state.withLock { $0.bodies.map { String(decoding: $0, as: UTF8.self) } } }

  /// The numbers of the events of each request.
  var sent: [[Int]] { bodies.map(eventNumbers) }
}

/// Ends a delivery from within.
final class Holder: Sendable {
  private let delivery = Guarded<Delivery?>(nil)

  func set(_ delivery: Delivery?) { self.delivery.withLock { $0 = delivery } }

  func end() { delivery.withLock { $0?.end() } }
}
