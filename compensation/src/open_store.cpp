#include <atone/journal.hpp>
