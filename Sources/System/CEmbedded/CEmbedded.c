#include "CEmbedded.h"

// In C for `#embed`: a SwiftPM resource must be in the folder of its target, and becomes an array literal
// that compiles slowly.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char job[] = {
#embed "../../../configs/schemas/job.json" suffix(, 0)
};
static const char map[] = {
#embed "../../../configs/schemas/map.json" suffix(, 0)
};
static const char record[] = {
#embed "../../../configs/schemas/record.json" suffix(, 0)
};
static const char report[] = {
#embed "../../../configs/schemas/report.json" suffix(, 0)
};
static const char routes[] = {
#embed "../../../configs/schemas/routes.json" suffix(, 0)
};

#define SCHEMA(name) \
  const char *engage_schema_##name(void) { return name; }

SCHEMA(job)
SCHEMA(map)
SCHEMA(record)
SCHEMA(report)
SCHEMA(routes)

static const char words[] = {
#embed "../../../docs/words.md" suffix(, 0)
};
const char *engage_words(void) { return words; }

static const char style[] = {
#embed "report.css" suffix(, 0)
};
const char *engage_style(void) { return style; }

static const char segment[] = {
#embed "../../../configs/maps/segment.json" suffix(, 0)
};
static const char rudderstack[] = {
#embed "../../../configs/maps/rudderstack.json" suffix(, 0)
};
static const char ga4[] = {
#embed "../../../configs/maps/ga4.json" suffix(, 0)
};
static const char amplitude[] = {
#embed "../../../configs/maps/amplitude.json" suffix(, 0)
};
static const char mixpanel[] = {
#embed "../../../configs/maps/mixpanel.json" suffix(, 0)
};
static const char mparticle[] = {
#embed "../../../configs/maps/mparticle.json" suffix(, 0)
};
static const char snowplow[] = {
#embed "../../../configs/maps/snowplow.json" suffix(, 0)
};
static const char snowplow_tsv[] = {
#embed "../../../configs/maps/snowplow-tsv.json" suffix(, 0)
};
static const char airship[] = {
#embed "../../../configs/maps/airship.json" suffix(, 0)
};
static const char onesignal[] = {
#embed "../../../configs/maps/onesignal.json" suffix(, 0)
};
static const char acoustic[] = {
#embed "../../../configs/maps/acoustic.json" suffix(, 0)
};
static const char fcm[] = {
#embed "../../../configs/maps/fcm.json" suffix(, 0)
};
static const char apns[] = {
#embed "../../../configs/maps/apns.json" suffix(, 0)
};

static const char sdk_store[] = {
#embed "../../../configs/maps/sdk-store.json" suffix(, 0)
};

static const engage_preset presets[] = {
  {"segment", segment},
  {"rudderstack", rudderstack},
  {"ga4", ga4},
  {"amplitude", amplitude},
  {"mixpanel", mixpanel},
  {"mparticle", mparticle},
  {"snowplow", snowplow},
  {"snowplow-tsv", snowplow_tsv},
  {"airship", airship},
  {"onesignal", onesignal},
  {"acoustic", acoustic},
  {"fcm", fcm},
  {"apns", apns},
  {"sdk-store", sdk_store},
};

const engage_preset *engage_presets(void) { return presets; }
int engage_preset_count(void) { return sizeof(presets) / sizeof(*presets); }
