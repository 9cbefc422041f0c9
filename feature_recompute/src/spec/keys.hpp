// Every key of a feature set's YAML, by the map it stands in. schemas/features.schema.json has the same ones; a test compares them.
#pragma once

#include <atone/yaml/keys.hpp>

namespace atone::features {

extern yaml::key_table const document_keys;
extern yaml::key_table const column_keys;
extern yaml::key_table const late_keys;
extern yaml::key_table const window_keys;
extern yaml::key_table const feature_keys;
extern yaml::key_table const condition_keys;

}  // namespace atone::features
