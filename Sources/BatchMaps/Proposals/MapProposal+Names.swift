extension MapProposal {
  /// The points for member names, which are given with letters and digits only.
  static let deviceNames = [
    "deviceid": 4, "installationid": 4, "installid": 4, "appinstanceid": 4, "userpseudoid": 4, "anonymousid": 3,
    "idfv": 4, "pushtoken": 3, "registrationtoken": 3,
    "channelid": 3, "clientid": 3, "device": 3, "visitorid": 3, "phone": 2, "handset": 2, "install": 2, "distinctid": 2,
    "uid": 2, "gerät": 4, "geräteid": 4, "gerätekennung": 4, "gerätid": 4, "kennung": 2, "token": 3, "devicetoken": 3,
    "registrationid": 3, "deviceuuid": 4, "deviceidentifier": 4, "instanceid": 3, "appsflyerid": 4,
    "userid": 1, "customerid": 1, "user": 1, "customer": 1, "kunde": 1,
  ]
  static let timeNames = [
    "timestamp": 4, "eventtimestamp": 4, "eventtime": 4, "occurredat": 4, "occurred": 3, "clienteventtime": 4,
    "time": 3, "ts": 3,
    "datetime": 3, "when": 3, "createdat": 3, "date": 2, "receivedat": 1, "sentat": 1, "zeit": 3,
    "zeitpunkt": 4, "zeitstempel": 4, "datum": 2, "uhrzeit": 2, "day": 2, "tag": 2, "hour": 1,
  ]
  static let nameNames = [
    "eventname": 4, "event": 4, "eventtype": 3, "action": 3, "activity": 3, "what": 3, "name": 2, "type": 2, "title": 1,
    "evt": 4, "eventlabel": 2, "ereignis": 4, "aktion": 3, "ereignisname": 4, "vorgang": 3, "pushname": 2,
  ]
  static let personNames = [
    "userid": 4, "mobileuserid": 4, "customerid": 4, "externaluserid": 5, "externalid": 4, "memberid": 4, "user": 3,
    "customer": 3,
    "accountid": 3, "kunde": 3, "kundennummer": 4, "benutzer": 3, "nutzerid": 4,
  ]
  /// The names of columns that identify a record.
  static let recordNames = [
    "eventid": 4, "eventuuid": 4, "messageid": 4, "insertid": 4, "recordid": 4, "uuid": 1, "id": 1,
  ]
  /// The names of columns that identify a person when many people share an id.
  static let addressNames = words("email emailaddress mail username login")
  static let deviceFields = [
    "device.name": ["devicename", "devicemodel", "model"], "device.osName": ["osname", "os", "platform"],
    "device.osVersion": ["osversion"], "device.appName": ["appname", "app", "appid"],
    "device.appVersion": ["appversion"],
  ]
  /// The names that SDKs give lifecycle events. Without the prefix `app`, some of them may mean something else.
  static let lifecycle = [
    "launch": ["launch", "launched", "open", "opened", "start", "started"],
    "foreground": ["foreground", "foregrounded", "resume", "sessionstart", "sessionstarted"],
    "background": ["background", "backgrounded", "pause", "close", "closed", "sessionend", "sessionended"],
    "terminate": ["terminate", "terminated", "exit", "quit"],
  ]

  /// Returns the names of events that are lifecycle events, with their types. Ambiguous names count only if all names
  /// may be lifecycle events, a launch and a background or terminate are among them, and at least one is unambiguous.
  static func lifecycle(_ values: [String]) -> [(name: String, type: String)] {
    let found = values.compactMap { value -> (name: String, type: String, isSure: Bool)? in
      let plain = value.lowercased().filter { $0.isASCII && $0.isLetter }
      let word = plain.trimmingPrefix(/app(lication)?/)
      return lifecycle.first { $0.value.contains(String(word)) }.map {
        (value, $0.key, word.count < plain.count || word.hasPrefix("session"))
      }
    }
    let types = Set(found.map(\.type))
    let isWhole =
      found.count == values.count && types.contains("launch")
      && !types.isDisjoint(with: ["background", "terminate"])
      && found.contains { $0.isSure || $0.name.lowercased().contains(/launch|ground/) }
    return found.filter { isWhole || $0.isSure }.map { ($0.name, $0.type) }
  }

  private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map(String.init)) }

  /// The words in column names that indicate times from other machines, and those that indicate times from the phone.
  static let otherClocks = words(
    """
    server received receive upload uploaded local ingest ingested ingestion load loaded processed processing collector \
    bus published updated modified sync synced inserted extracted emitted expires end ended install installed stored
    """)
  static let ownClocks = words("client device event occurred utc gmt")
  static let universal = words("utc gmt")
  /// The names of columns with the zone of a time.
  static let zoneNames = words("timezone zone tz utcoffset offset timezoneoffset tzoffset gmtoffset zeitzone")
  static let zoneUnits = words("minutes minute min mins seconds secs hours hour")
  /// The words that indicate pushes, those that may indicate pushes, and those that indicate other logs.
  static let pushWords = words("push pushes notification notifications payload aps apns fcm gcm")
  static let perhapsPushWords = words("campaign message kampagne currentcampaign")
  static let otherLogWords = words(
    "email mail newsletter sms chat subject order orders ticket tickets invoice shipment parcel delivery courier")
  /// The kinds of calls that SDKs record.
  static let callTypes = words("track screen page identify group alias event custom log")
  /// The names of columns with the outcome of a push.
  static let outcomeNames = words("status statuscode code result reason error response responsecode state outcome")
  static let campaignNames = [
    "currentcampaign": 4, "campaign": 4, "campaignname": 4, "utmcampaign": 3, "campaignid": 3, "pushname": 3,
    "kampagne": 4,
  ]
  static let alertNames = ["alert": 3, "body": 3, "message": 3, "text": 2, "title": 2, "titel": 2]
  static let payloadNames = ["payload": 4, "notification": 2, "message": 2, "data": 1]
  /// The names of objects with a record's own attributes, and their points.
  static let attributeNames = [
    "params": 4, "props": 4, "properties": 4, "attributes": 4, "eventproperties": 4, "eventparams": 4, "parameters": 4,
    "data": 1,
  ]
}
