#include <atone/participant_protocol.hpp>
