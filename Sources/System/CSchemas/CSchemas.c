#include "CSchemas.h"

// In C for `#embed`: a resource of SwiftPM has to lie in the folder of its target, and becomes an array literal that takes long to compile.
#define SCHEMA(name) \
  const char *engage_schema_##name(void) { return name; }

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

SCHEMA(job)
SCHEMA(map)
SCHEMA(record)
SCHEMA(report)
SCHEMA(routes)
