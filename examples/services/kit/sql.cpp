#include "sql.hpp"

#include <atone/json.hpp>

namespace kit {

std::string error_body(std::string_view text) {
  atone::json::writer to;
  to.begin_object().key("error").string(text).end_object();
  return to.take();
}

}  // namespace kit
