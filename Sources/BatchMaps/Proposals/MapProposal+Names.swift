extension MapProposal {
  /// Names of members, as far as letters and digits go, with how much they say.
  static let deviceNames = [
    "deviceid": 4, "installationid": 4, "installid": 4, "appinstanceid": 4, "userpseudoid": 4, "anonymousid": 4,
    "idfv": 4,
    "channelid": 3, "clientid": 3, "device": 3, "visitorid": 3, "phone": 2, "handset": 2, "install": 2, "distinctid": 2,
    "uid": 2, "gerät": 4, "geräteid": 4, "gerätekennung": 4, "gerätid": 4, "kennung": 2, "token": 3, "devicetoken": 3,
    "registrationid": 3,
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
    "userid": 4, "mobileuserid": 4, "customerid": 4, "externaluserid": 4, "memberid": 4, "user": 3, "customer": 3,
    "accountid": 3, "kunde": 3, "kundennummer": 4, "benutzer": 3, "nutzerid": 4,
  ]
  static let deviceFields = [
    "device.name": ["devicename", "devicemodel", "model"], "device.osName": ["osname", "os", "platform"],
    "device.osVersion": ["osversion"], "device.appName": ["appname", "app", "appid"],
    "device.appVersion": ["appversion"],
  ]
  static let lifecycle = [
    "launch": [
      "launch", "launched", "applaunch", "applaunched", "open", "opened", "appopen", "appopened", "applicationopened",
      "start", "appstart",
    ],
    "foreground": [
      "foreground", "foregrounded", "appforeground", "applicationforegrounded", "sessionstart", "sessionstarted",
      "resume",
    ],
    "background": [
      "background", "backgrounded", "appbackground", "applicationbackgrounded", "sessionend", "sessionended", "pause",
      "close", "closed", "appclose",
    ],
    "terminate": ["terminate", "terminated", "appterminate", "exit", "quit"],
  ]
  static let campaignNames = [
    "currentcampaign": 4, "campaign": 4, "campaignname": 4, "utmcampaign": 3, "campaignid": 3, "pushname": 3,
    "kampagne": 4,
  ]
  static let alertNames = ["alert": 3, "body": 3, "message": 3, "text": 2, "title": 2, "titel": 2]
  static let payloadNames = ["payload": 4, "notification": 2, "message": 2, "data": 1]
  /// Objects whose members are a record's own attributes.
  static let attributeNames = [
    "params": 4, "props": 4, "properties": 4, "attributes": 4, "eventproperties": 4, "eventparams": 4, "parameters": 4,
    "data": 1,
  ]
}
