import BatchFoundation
import BatchWire

/// Writes the text of an XMLAPI response.
struct ResponseWriter: Sendable {
  private(set) var text = ""
  /// Whether column values are CDATA rather than escaped text.
  var prefersCDATA = true
  /// Whether SUCCESS is false although there is no fault, for example if no row could be deleted.
  var fails = false

  /// Appends `<NAME>value</NAME>`, or `<NAME/>` for an empty value.
  mutating func element(_ name: StaticString, _ value: String) {
    if value.utf8.isEmpty {
      text += "<\(name)/>"
    } else {
      text += "<\(name)>\(XMLWriter.escaped(value))</\(name)>"
    }
  }

  mutating func element(_ name: StaticString, _ value: ByteText) { element(name, value.string) }

  mutating func element(_ name: StaticString, _ value: some BinaryInteger) { element(name, "\(value)") }

  /// Appends `<NAME>…</NAME>` around everything that `content` appends.
  mutating func group(_ name: StaticString, _ content: (inout ResponseWriter) -> Void) {
    text += "<\(name)>"
    content(&self)
    text += "</\(name)>"
  }

  mutating func raw(_ part: String) { text += part }

  /// Appends `<COLUMN><NAME>…</NAME><VALUE>…</VALUE></COLUMN>`.
  mutating func column(_ name: ByteText, _ value: ByteText) {
    text += "<COLUMN><NAME>\(XMLWriter.escaped(name.string))</NAME><VALUE>"
    if !value.isEmpty { text += prefersCDATA ? cdata(value.string) : XMLWriter.escaped(value.string) }
    text += "</VALUE></COLUMN>"
  }
}

/// Returns the text as CDATA, or escaped if XML cannot represent all of it.
func cdata(_ text: String) -> String {
  var writer = XMLWriter()
  do { try writer.cdata(text) } catch { return XMLWriter.escaped(text) }
  return String(decoding: writer.bytes, as: UTF8.self)
}

/// The content of an XMLAPI request (reference identity 2.1).
enum ReceivedEnvelope: Sendable {
  case operations([XMLElement])
  case refused(APIFault)

  /// - Parameter contentType: the body's type. A form has the envelope in its field `xml`; any other body is the
  ///   envelope.
  init(_ body: [UInt8], contentType: String) {
    var bytes = body
    if contentType.lowercased().hasPrefix("application/x-www-form-urlencoded") {
      guard let form = parseForm(body) else {
        self = .refused(.invalidRequest)
        return
      }
      guard let xml = form.first(where: { $0.name.utf8.elementsEqual("xml".utf8) }) else {
        self = .refused(.missingXML)
        return
      }
      bytes = Array(xml.value.utf8)
    }
    if bytes.isEmpty {
      self = .refused(.serverError)
      return
    }
    // Non-ASCII text must be declared as UTF-8, because some clients declared a different charset or none.
    if bytes.contains(where: { $0 >= 0x80 }), !contentType.lowercased().contains("utf-8"), !Self.declaresUTF8(bytes) {
      self = .refused(.invalidRequest)
      return
    }
    // The kind of error does not matter: the service reports fault 51 for all of them.
    guard let root = try? XMLDocument.parse(bytes, limits: .file), root.isNamed("Envelope"),
      let body = root.first("Body"),
      !body.elements.isEmpty
    else {
      self = .refused(.invalidRequest)
      return
    }
    self = .operations(body.elements)
  }

  private static func declaresUTF8(_ bytes: [UInt8]) -> Bool {
    let start = String(decoding: bytes.prefix(100), as: UTF8.self).lowercased()
    return start.hasPrefix("<?xml") && start.contains("utf-8")
  }

  var names: [String] {
    switch self {
    case .operations(let operations): operations.map(\.name)
    case .refused: []
    }
  }
}

/// A refusal of one XMLAPI operation (reference identity 4).
struct APIFault: Error, Sendable, Equatable {
  var id: Int
  var text: String
  var errorClass = "SP.API"

  static func missing(_ parameter: String) -> APIFault {
    APIFault(id: 100, text: "Parameter \(parameter) was not provided in API call")
  }
  static let invalidRequest = APIFault(id: 51, text: "Invalid XML Request")
  static let missingXML = APIFault(id: 52, text: "Missing XML parameter")
  static let serverError = APIFault(id: 50, text: "Server Error")
  static let notPermitted = APIFault(id: 150, text: "Your organization is not permitted to use this API call")
  static let sessionExpired = APIFault(
    id: 145, text: "Session has expired or is invalid", errorClass: "SP.Admin")
  static let tokenExpired = APIFault(id: 145, text: "The access token has expired")
  static let notMember = APIFault(
    id: 128, text: "Recipient is not a member of the list.", errorClass: "SP.ListManager")
  static let exists = APIFault(
    id: 122, text: "Unable to add the recipient. The recipient already exists.", errorClass: "SP.Recipients")
  static let invalidRecipient = APIFault(id: 124, text: "Recipient ID is not valid.", errorClass: "SP.Recipients")
  static let noEmail = APIFault(
    id: 121, text: "Unable to add the recipient. No EMAIL provided.", errorClass: "SP.Recipients")
  static let notInList = APIFault(id: 1001, text: "Recipient ID is not in the list.", errorClass: "SP.Recipients")
  static let missingKey = APIFault(id: 1006, text: "Recipient key is missing.", errorClass: "SP.Recipients")
  static let nameTaken = APIFault(
    id: 256, text: "A List With This Name Already Exists.", errorClass: "SP.ListManager")
  static let invalidVisibility = APIFault(id: 104, text: "Visibility is not valid.")
  static let invalidList = APIFault(id: 106, text: "List ID is not valid.", errorClass: "SP.ListManager")
  static let invalidJob = APIFault(id: 135, text: "Job ID is not valid.")

  static func unknownList(_ id: ByteText) -> APIFault {
    APIFault(id: 108, text: "List with id \(id) Does Not Exist.", errorClass: "SP.ListManager")
  }
  static func unknownColumn(_ name: ByteText) -> APIFault {
    APIFault(id: 1007, text: "Column \(name) does not exist.", errorClass: "SP.Recipients")
  }
  /// - Parameter id: 123, or the value of ``SandboxSwitches/unknownRecipientFault``.
  static func unknownRecipient(_ id: Int = 123) -> APIFault {
    APIFault(
      id: id, text: "Unable to update the recipient. The recipient does not exist.", errorClass: "SP.Recipients")
  }
  static func concurrency(_ id: Int) -> APIFault {
    APIFault(id: id, text: "The max number of concurrent authenticated requests has been reached")
  }

  /// Returns the fault for an id from a plan; a nil `text` means the service's text for that id.
  static func planned(_ id: Int, text: String?, errorClass: String) -> APIFault {
    let known = [
      invalidRequest, missingXML, serverError, notPermitted, sessionExpired, notMember, exists, invalidRecipient,
      invalidList,
      invalidJob,
    ].first { $0.id == id }
    return APIFault(id: id, text: text ?? known?.text ?? "Error \(id)", errorClass: errorClass)
  }
}
