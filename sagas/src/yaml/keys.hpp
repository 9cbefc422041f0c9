// Every key of the YAML, by the map it stands in. The JSON Schema of the YAML (schemas/saga.schema.json) has the same ones;
// a test compares them.
#pragma once

#include <atone/yaml/keys.hpp>

namespace atone::yaml {

extern key_table const document_keys;
extern key_table const defaults_keys;
extern key_table const service_keys;
extern key_table const step_keys;
extern key_table const retry_keys;
extern key_table const compensate_keys;
extern key_table const default_compensate_keys;
extern key_table const fallback_keys;
extern key_table const fallback_value_keys;
extern key_table const fallback_call_keys;
extern key_table const parallel_keys;

}  // namespace atone::yaml
