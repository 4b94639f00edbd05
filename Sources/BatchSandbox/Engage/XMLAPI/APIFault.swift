import BatchFoundation

/// A refusal of one XMLAPI operation (specification section 4).
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

  /// Returns a fault that a plan names by its id alone.
  static func planned(_ id: Int, text: String?, errorClass: String) -> APIFault {
    let known = [
      invalidRequest, missingXML, serverError, notPermitted, sessionExpired, notMember, exists, invalidRecipient,
      invalidList,
      invalidJob,
    ].first { $0.id == id }
    return APIFault(id: id, text: text ?? known?.text ?? "Error \(id)", errorClass: errorClass)
  }
}
