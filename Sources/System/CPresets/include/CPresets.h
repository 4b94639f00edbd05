#pragma once

/// A map of `configs/maps`, byte for byte.
typedef struct {
  const char *_Nonnull name;
  const char *_Nonnull text;
} engage_preset;

/// All of them, in the order in which people are told of them.
const engage_preset *_Nonnull engage_presets(void);
int engage_preset_count(void);
