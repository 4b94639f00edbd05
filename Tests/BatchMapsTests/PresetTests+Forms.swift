import TestSupport
import Testing

@testable import BatchMaps

/// Records of vendors in forms that their samples do not have.
extension PresetTests {
  static let nobody = "00000000-0000-0000-0000-000000000000"

  /// What each vendor's records are in another form of theirs, and as a warehouse may write the names of their members.
  @Test(
    arguments: [
      (
        "segment", #"{"type":"track","event":"E","anonymousid":"a","userid":"u","messageid":"m","timestamp":"T"}"#,
        #"{"deviceId":"a","mobileUserId":"u","name":"E","recordId":"m","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "rudderstack",
        #"{"batch":[{"TYPE":"track","EVENT":"E","ANONYMOUS_ID":"a","USER_ID":"0","CONTEXT":{"device":{"id":"0"}},"TIMESTAMP":"T","PROPERTIES":{"a":{"b":null,"c":1}}}]}"#,
        #"{"deviceId":"a","name":"E","params":{"a.c":1},"timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "mparticle",
        #"{"mpid":7,"mp_deviceid":"0","user_identities":[{"identity_type":"email","identity":"e"},{"identity_type":"customer_id","identity":"c"}],"events":[{"event_type":"custom_event","data":{"event_name":"E","event_id":-5,"timestamp_unixtime_ms":1768464000000}}]}"#,
        #"{"deviceId":"7","mobileUserId":"c","name":"E","recordId":"-5","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "snowplow",
        #"{"event_id":"i","event_name":"e","network_userid":"n","derived_tstamp":"T","contexts_com_snowplowanalytics_snowplow_client_session_1_0_2":[{"user_id":"s"}],"contexts_com_snowplowanalytics_snowplow_mobile_context_1_0_2":[{"os_type":"ios","device_model":"m"}]}"#,
        #"{"device":{"name":"m","osName":"ios","version":"m"},"deviceId":"s","name":"e","recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "snowplow",
        #"{"EVENT_ID":"i","EVENT":"transaction","EVENT_NAME":"transaction","DOMAIN_USERID":"d","DERIVED_TSTAMP":"T","TR_TOTAL":2.50}"#,
        #"{"deviceId":"d","name":"transaction","params":{"tr_total":2.50},"recordId":"i","timestamp":"T","type":"goalCompleted"}"#
      ),
      (
        "ga4",
        #"{"EVENT_TIMESTAMP":1768464000000000,"EVENT_NAME":"e","USER_PSEUDO_ID":"0","DEVICE":{"vendor_id":"v"},"EVENT_PARAMS":[{"key":"a","value":{"string_value":null,"int_value":1}},{"key":"b","value":{"string_value":null}}]}"#,
        #"{"deviceId":"v","name":"e","params":{"a":1},"recordId":{"time":"1768464000000000"},"timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "ga4",
        #"{"event_timestamp":"1768464000000900","event_name":"notification_open","user_pseudo_id":"p","batch_page_id":7,"batch_event_index":"3","event_params":{"list":[{"element":{"key":"message_name","value":{"string_value":"spring"}}}]}}"#,
        #"{"deviceId":"p","params":{"message_name":"spring"},"payload":{"CurrentCampaign":"spring","aps":{}},"recordId":{"batch":"7/3","time":"1768464000000900"},"timestamp":"T","type":"notificationOpened"}"#
      ),
      (
        "ga4",
        #"{"event_timestamp":1768464000000000,"event_name":"e","device":"{\"vendor_id\": \"v\", \"operating_system\": \"iOS\"}","event_params":" [{\"key\": \"a\", \"value\": {\"int_value\": 1}}]"}"#,
        #"{"device":{"osName":"iOS"},"deviceId":"v","name":"e","params":{"a":1},"recordId":{"time":"1768464000000000"},"timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "segment",
        #"{"batch":[{"type":"track","event":"e","messageId":"i","timestamp":"T","context":"{\"os\": {\"name\": \"iOS\"}}","properties":"{\"a\": {\"b\": null, \"c\": 1}}"}],"context":"{\"device\": {\"id\": \"d\"}}"}"#,
        #"{"device":{"osName":"iOS"},"deviceId":"d","name":"e","params":{"a.c":1},"recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "amplitude",
        #"{"device_id":"d","event_type":"[Amplitude] Deep Link Opened","time":"T","event_properties":"{\"[Amplitude] Link URL\": \"app://x\"}"}"#,
        #"{"deviceId":"d","timestamp":"T","type":"deepLink","url":"app://x"}"#
      ),
      (
        "apns", #"{"token":"t","time":"T","payload":"{\"aps\": {\"alert\": \"A\"}, \"k\": 1}"}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"alert":"A"},"k":1},"timestamp":"T"}"#
      ),
      (
        "apns", #"{"token":"t","time":"T","aps":"{\"alert\": {\"body\": \"B\"}, \"badge\": 1}","k":1}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"alert":{"body":"B"},"badge":1},"k":1},"timestamp":"T"}"#
      ),
      (
        "apns", #"{"token":"t","time":"T","payload":{"aps":"{\"content-available\": 1}"}}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"content-available":1}},"timestamp":"T"}"#
      ),
      (
        "fcm",
        #"{"token":"t","time":"T","message":{"data":{"k":"v"},"notification":{"click_action":"app://x?CurrentCampaign=s"}}}"#,
        #"{"action":"received","deviceId":"t","payload":{"click_action":"app://x?CurrentCampaign=s","k":"v"},"timestamp":"T"}"#
      ),
      (
        "amplitude",
        #"{"DEVICE_ID":"0","AMPLITUDE_ID":12.0,"EVENT_TYPE":"e","UUID":"i","CLIENT_EVENT_TIME":"T","EVENT_PROPERTIES":{"a":null}}"#,
        #"{"deviceId":"12","name":"e","recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "mixpanel",
        #"{"event":"e","properties":{"$device_id":"0","distinct_id":"d","$user_id":"0","time":1768464000.0,"a":{"b":null}}}"#,
        #"{"deviceId":"d","name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "segment",
        #"{"context":{"device":{"id":"d"},"os":{"name":"iOS"}},"batch":[{"type":"track","event":"e","messageId":"i","timestamp":"T"}]}"#,
        #"{"device":{"osName":"iOS"},"deviceId":"d","name":"e","recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "segment",
        #"{"type":"track","event":"Push Notification Tapped","anonymousId":"d","timestamp":"T","properties":{"campaign":"spring"}}"#,
        #"{"deviceId":"d","payload":{"CurrentCampaign":"spring","aps":{}},"timestamp":"T","type":"notificationOpened"}"#
      ),
      (
        "snowplow",
        #"{"event":"unstruct","event_id":"i","derived_tstamp":"T","event_name":"buy","contexts_com_snowplowanalytics_snowplow_client_session_1_0_1":[],"contexts_com_snowplowanalytics_snowplow_client_session_1_0_2":[{"user_id":"d"}],"unstruct_event_com_acme_add_1":{"n":null},"unstruct_event_com_acme_buy_1":{"price":5}}"#,
        #"{"deviceId":"d","name":"buy","params":{"price":5},"recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "mparticle",
        #"{"MPID":"1","USER_IDENTITIES":[{"IDENTITY_TYPE":"CustomerId","IDENTITY":"u"}],"EVENTS":[{"EVENT_TYPE":"custom_event","DATA":{"EVENT_NAME":"e","TIMESTAMP_UNIXTIME_MS":1768464000000}}]}"#,
        #"{"deviceId":"1","mobileUserId":"u","name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "fcm", #"{"to":"/topics/news","device":"t","time":"T","data":{"k":"v"}}"#,
        #"{"action":"received","deviceId":"t","payload":{"k":"v"},"timestamp":"T"}"#
      ),
      (
        "fcm", #"{"to":"/topics/news","time":"T","data":{"k":"v"}}"#,
        #"{"action":"received","payload":{"k":"v"},"timestamp":"T"}"#
      ),
      (
        "mixpanel", #"{"event":"e","properties":{"distinct_id":"$device:d","time":1768464000}}"#,
        #"{"deviceId":"d","name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "mparticle",
        #"{"mpid":"1","user_identities":{"customerid":"u","email":"x"},"events":[{"event_type":"custom_event","data":{"event_name":"e","timestamp_unixtime_ms":1768464000000}}]}"#,
        #"{"deviceId":"1","mobileUserId":"u","name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "acoustic",
        #"{"eventTypeCode":95.0,"eventTimestamp":"T","attributes":[{"name":"customEventName","value":"e"},{"name":"channelId","value":"c"},{"name":"mobileUserId","value":"0"},{"name":"n","value":null}]}"#,
        #"{"channelId":"c","deviceId":"c","name":"e","params":{"customEventName":"e"},"timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "airship",
        #"{"id":"i","type":"CUSTOM","occurred":"T","device":{"channel":"0","ios_channel":"c","named_user_id":"0"},"body":{"name":"e","value":null,"properties":{"a":null,"b":1}}}"#,
        #"{"deviceId":"c","name":"e","params":{"b":1},"recordId":"i","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "onesignal",
        #"{"event":{"kind":"message.push.clicked","id":"i","datetime":"T","subscription_id":"0","onesignal_id":"p"},"subscription":{"id":"o"},"message":{"contents":"text"}}"#,
        #"{"action":"opened","deviceId":"o","payload":{"aps":{"alert":"text"}},"recordId":"i","timestamp":"T"}"#
      ),
      (
        "fcm",
        #"{"token":"t","time":"T","action":"opened","name":"spring push","message":{"data":{"k":"v"},"android":{"notification":{"title":"T1","body":"a"},"data":{"l":"w"}}}}"#,
        #"{"action":"opened","deviceId":"t","payload":{"aps":{"alert":"a"},"k":"v","l":"w"},"timestamp":"T"}"#
      ),
      (
        "fcm", #"{"token":"t","time":"T","apns":{"payload":{"aps":{"alert":"B","badge":1},"k":null}}}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"alert":"B","badge":1}},"timestamp":"T"}"#
      ),
      (
        "fcm",
        #"{"token":"t","time":"T","message":{"apns":{"payload":{"aps":{"alert":{"loc-key":"L"}}}},"notification":{"body":"N"}}}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{"alert":"N"}},"timestamp":"T"}"#
      ),
      (
        "apns", #"{"token":"t","time":"T","aps":{"alert":null,"badge":null}}"#,
        #"{"action":"received","deviceId":"t","payload":{"aps":{}},"timestamp":"T"}"#
      ),
      (
        "mixpanel", #"{"event":"e","properties":{"$device_id":"0","distinct_id":"$device:0","time":1768464000}}"#,
        #"{"name":"e","timestamp":"T","type":"namedEvent"}"#
      ),
      (
        "apns",
        #"{"device_token":"0","token":"t","time":"T","action":"com.apple.UNNotificationDefaultActionIdentifier","aps":{"alert":"A","badge":null},"a":{"b":null,"c":[1,null]}}"#,
        #"{"action":"opened","deviceId":"t","payload":{"a":{"c":[1,null]},"aps":{"alert":"A"}},"timestamp":"T"}"#
      ),
    ])
  func otherFormsOfAVendorAreTheSameRecords(preset name: String, record: String, line: String) throws {
    let time = "2026-01-15T08:00:00.000Z"
    let given = record.replacing(#":0""#, with: ":\(Self.nobody)\"").replacing(#""0""#, with: "\"\(Self.nobody)\"")
      .replacing(#""T""#, with: "\"\(time)\"")
    #expect(outcomes(of: try preset(name), [given]) == [line.replacing(#""T""#, with: "\"\(time)\"")])
    let plain = given.replacing(Self.nobody, with: Self.nobody.filter { $0 != "-" })
    #expect(outcomes(of: try preset(name), [plain]) == [line.replacing(#""T""#, with: "\"\(time)\"")])
  }
}
