#pragma once

/// The JSON Schemas of `configs/schemas`, byte for byte.
const char *_Nonnull engage_schema_job(void);
const char *_Nonnull engage_schema_map(void);
const char *_Nonnull engage_schema_record(void);
const char *_Nonnull engage_schema_report(void);
const char *_Nonnull engage_schema_routes(void);
