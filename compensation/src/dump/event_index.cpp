#include "event_index.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <atone/assert.hpp>

namespace atone::dump {

error event_index::failed(char const* what) const {
  return error{errc::unavailable, folder_ + ": the dump's events can't be " + what + " there; is it full?"};
}

result<event_index> event_index::open(std::string const& folder) {
  event_index made;
  made.folder_ = folder;
  auto path = folder + "/atone-events-XXXXXX";
  int const descriptor = ::mkstemp(path.data());
  if (descriptor >= 0) ::unlink(path.c_str());
  if (descriptor >= 0) made.file_.reset(::fdopen(descriptor, "w+b"));
  if (made.file_ == nullptr) return made.failed("kept");
  return made;
}

result<void> event_index::add(saga_id saga, sequence seq, std::string_view text) {
  ATONE_ASSERT(text.size() <= std::numeric_limits<std::uint32_t>::max());
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) return failed("kept");
  place made;
  made.saga = saga;
  made.offset = end_;
  made.size = static_cast<std::uint32_t>(text.size());
  made.seq = seq.value();
  places_.push_back(made);
  end_ += text.size();
  return {};
}

result<void> event_index::finish() {
  if (std::fflush(file_.get()) != 0) return failed("kept");
  std::sort(places_.begin(), places_.end(),
            [](place const& left, place const& right) { return std::pair{left.saga, left.seq} < std::pair{right.saga, right.seq}; });
  return {};
}

std::optional<saga_id> event_index::find_stranger(std::function<bool(saga_id)> const& known) const {
  std::optional<saga_id> last;
  for (auto const& each : places_) {
    if (last == each.saga) continue;
    last = each.saga;
    if (!known(each.saga)) return last;
  }
  return std::nullopt;
}

result<std::vector<std::string>> event_index::texts_of(saga_id saga) const {
  auto at = std::lower_bound(places_.begin(), places_.end(), saga, [](place const& one, saga_id wanted) { return one.saga < wanted; });
  std::vector<std::string> texts;
  for (; at != places_.end() && at->saga == saga; ++at) {
    std::string text(at->size, '\0');
    auto const came = ::pread(::fileno(file_.get()), text.data(), text.size(), static_cast<::off_t>(at->offset));
    if (came != static_cast<::ssize_t>(text.size())) return failed("read");
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace atone::dump
