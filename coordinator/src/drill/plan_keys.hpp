// Every key of a drill's plan, by the map it stands in. schemas/drill.schema.json has the same ones; a test compares them.
#pragma once

#include <atone/yaml/keys.hpp>

namespace atone::drill {

extern yaml::key_table const plan_keys;
extern yaml::key_table const load_keys;
extern yaml::key_table const proxy_keys;
extern yaml::key_table const process_keys;
extern yaml::key_table const fault_keys;
extern yaml::key_table const expect_keys;
extern yaml::key_table const must_keys;

}  // namespace atone::drill
