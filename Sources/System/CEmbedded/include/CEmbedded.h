#pragma once

/// The JSON Schemas of `configs/schemas`, byte for byte.
const char *_Nonnull engage_schema_job(void);
const char *_Nonnull engage_schema_map(void);
const char *_Nonnull engage_schema_record(void);
const char *_Nonnull engage_schema_report(void);
const char *_Nonnull engage_schema_routes(void);

/// The page `docs/words.md`, byte for byte.
const char *_Nonnull engage_words(void);

/// The style sheet of reports, `report.css`, byte for byte.
const char *_Nonnull engage_style(void);

/// A map of `configs/maps`, byte for byte.
typedef struct {
  const char *_Nonnull name;
  const char *_Nonnull text;
} engage_preset;

/// All presets, in the order in which they are listed.
const engage_preset *_Nonnull engage_presets(void);
int engage_preset_count(void);
