// What `atone_bench NAME` runs; each prints a table and writes the JSON file. Thread rules: main thread.
#pragma once

#include "stage.hpp"

namespace bench {

void throughput(stage& on);
void store_limit(stage& on);
void recovery(stage& on);
void memory(stage& on);
void waiting(stage& on);
void growth(stage& on);
void overload(stage& on);
void retention(stage& on);
void peers(stage& on);
void stress(stage& on);

}  // namespace bench
