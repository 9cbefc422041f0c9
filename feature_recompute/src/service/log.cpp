#include "service/log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "service/bytes.hpp"
#include "service/crc32c.hpp"

namespace atone::features {
namespace {

constexpr std::string_view magic = "ATFS";
constexpr std::size_t head_bytes = 20;
constexpr std::size_t search_bytes = std::size_t{1} << 20;  // read at a time where a whole frame is looked for

error failed(errc code, std::string const& path, std::string const& what, int why) {
  return error{code, path + ": " + what + ": " + std::strerror(why)};
}

std::string frame_of(std::uint64_t number, std::string_view payload) {
  std::string covered;
  covered.reserve(head_bytes + payload.size());
  covered.append(magic);
  put(covered, static_cast<std::uint32_t>(payload.size()));
  put(covered, number);
  auto const check = crc32c(payload, crc32c(std::string_view{covered}.substr(magic.size())));
  put(covered, check);
  covered.append(payload);
  return covered;
}

// 0, or an errno.
int write_all(int descriptor, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    auto const written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::uint64_t>(written);
  }
  return 0;
}

// Up to `size` bytes; fewer at the end of the file.
result<std::string> read_at(int descriptor, std::string const& path, std::uint64_t at, std::size_t size) {
  std::string made(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    auto const count = ::pread(descriptor, made.data() + got, size - got, static_cast<off_t>(at + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(errc::unavailable, path, "can't be read at byte " + std::to_string(at + got), errno);
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  made.resize(got);
  return made;
}

struct found_frame {
  std::uint64_t number = 0;
  std::string payload;

  found_frame() = default;
};

// The whole frame at `at`; nothing where there is none.
result<std::optional<found_frame>> frame_at(int descriptor, std::string const& path, std::uint64_t at) {
  using outcome = std::optional<found_frame>;
  auto const head = read_at(descriptor, path, at, head_bytes);
  if (!head) return head.error();
  if (head->size() < head_bytes || !head->starts_with(magic)) return outcome{};
  byte_reader from{std::string_view{*head}.substr(magic.size())};
  auto const size = from.number<std::uint32_t>();
  found_frame made;
  made.number = from.number<std::uint64_t>();
  auto const check = from.number<std::uint32_t>();
  if (size > frame_bytes_max) return outcome{};
  auto payload = read_at(descriptor, path, at + head_bytes, size);
  if (!payload) return payload.error();
  auto const covered = std::string_view{*head}.substr(magic.size(), head_bytes - magic.size() - sizeof check);
  if (payload->size() < size || crc32c(*payload, crc32c(covered)) != check) return outcome{};
  made.payload = *std::move(payload);
  return outcome{std::move(made)};
}

// Where a whole frame stands behind `from`, with a number above `number`; nothing where there is none.
result<std::optional<std::uint64_t>> whole_frame_behind(int descriptor, std::string const& path, std::uint64_t from, std::uint64_t number) {
  using outcome = std::optional<std::uint64_t>;
  for (auto at = from;; at += search_bytes) {
    auto const bytes = read_at(descriptor, path, at, search_bytes + magic.size() - 1);
    if (!bytes) return bytes.error();
    for (auto found = bytes->find(magic); found != std::string::npos; found = bytes->find(magic, found + 1)) {
      auto const frame = frame_at(descriptor, path, at + found);
      if (!frame) return frame.error();
      if (*frame && (*frame)->number > number) return outcome{at + found};
    }
    if (bytes->size() < search_bytes) return outcome{};
  }
}

result<void> sync_folder(std::string const& folder, sync_function const& sync) {
  file_handle const opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened.is_open()) return failed(errc::unavailable, folder, "can't be opened", errno);
  if (int const why = sync(opened.get()); why != 0) return failed(errc::unavailable, folder, "can't be made durable", why);
  return {};
}

// With those above it that are missing; each is durable in the one above.
result<void> make_folder(std::string const& folder, sync_function const& sync) {
  std::error_code why;
  auto const whole = std::filesystem::absolute(folder, why);
  std::vector<std::filesystem::path> missing;
  for (auto one = whole; !why && !one.empty() && !std::filesystem::exists(one, why); one = one.parent_path()) missing.push_back(one);
  if (!why) std::filesystem::create_directories(whole, why);
  if (why) return error{errc::unavailable, folder + ": can't be made: " + why.message()};
  for (auto const& one : missing) {
    if (auto done = sync_folder(one.parent_path().string(), sync); !done) return done;
  }
  return {};
}

}  // namespace

int sync_data(int descriptor) {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) return errno;
  return (S_ISDIR(about.st_mode) ? ::fsync(descriptor) : ::fdatasync(descriptor)) == 0 ? 0 : errno;
}

file_handle::file_handle(file_handle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

file_handle& file_handle::operator=(file_handle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

file_handle::~file_handle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

commit_log::commit_log(std::string folder, sync_function sync)
    : folder_(std::move(folder)), path_(folder_ + "/" + log_name), sync_(sync ? std::move(sync) : sync_data) {}

result<commit_log> commit_log::open(std::string const& folder, sync_function sync, reader const& read) {
  commit_log made{folder, std::move(sync)};
  if (auto done = made.take_folder(); !done) return done.error();
  if (auto done = made.open_file(); !done) return done.error();
  if (auto done = made.replay(read); !done) return done.error();
  return made;
}

result<void> commit_log::take_folder() {
  if (auto made = make_folder(folder_, sync_); !made) return made;
  auto const path = folder_ + "/" + log_lock_name;
  lock_ = file_handle{::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)};
  if (!lock_.is_open()) return failed(errc::unavailable, path, "can't be opened", errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return failed(errc::unavailable, path, "can't be locked", errno);
  return error{errc::conflict, folder_ + " is in use (" + path + " is held); features are written by one process at a time"};
}

// What a rewriting left behind that did not come to its end is of no use.
result<void> commit_log::open_file() {
  ::unlink((path_ + ".new").c_str());
  file_ = file_handle{::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)};
  if (!file_.is_open()) return failed(errc::unavailable, path_, "can't be opened", errno);
  return sync_folder(folder_, sync_);
}

result<void> commit_log::replay(reader const& read) {
  std::uint64_t at = 0;
  std::uint64_t last = 0;
  for (;;) {
    auto frame = frame_at(file_.get(), path_, at);
    if (!frame) return frame.error();
    if (!*frame || (*frame)->number <= last_number_) {
      if (auto done = settle_end(at, last_number_); !done) return done;
      return settle_last(last);
    }
    last_number_ = (*frame)->number;
    if (auto done = read(last_number_, (*frame)->payload); !done) {
      return error{done.error().code, path_ + ", frame at byte " + std::to_string(at) + ": " + done.error().message};
    }
    last = at;
    at += head_bytes + (*frame)->payload.size();
  }
}

// The frame at `at` is not whole: the end of the file, torn by a crash, or damage.
result<void> commit_log::settle_end(std::uint64_t at, std::uint64_t number) {
  struct stat about{};
  if (::fstat(file_.get(), &about) != 0) return failed(errc::unavailable, path_, "tells no size", errno);
  auto const end = static_cast<std::uint64_t>(about.st_size);
  size_ = at;
  if (at == end) return {};
  auto const behind = whole_frame_behind(file_.get(), path_, at + 1, number);
  if (!behind) return behind.error();
  if (*behind) {
    return error{errc::corrupt, path_ + " is damaged at byte " + std::to_string(at) +
                                    ": expected a whole frame there, since one stands at byte " + std::to_string(**behind) +
                                    "; bring the file back from a copy"};
  }
  if (at == 0) {
    auto const begin = read_at(file_.get(), path_, 0, magic.size());
    if (!begin) return begin.error();
    if (!magic.starts_with(*begin) && begin->find_first_not_of('\0') != std::string::npos) {
      return error{errc::corrupt, path_ + " is no log of features: expected it to begin with " + std::string{magic}};
    }
  }
  cut_off_ = end - at;
  if (::ftruncate(file_.get(), static_cast<off_t>(at)) != 0)
    return failed(errc::unavailable, path_, "its torn end can't be cut off", errno);
  return {};
}

// Durable before anybody is told of it: the last frame may have been read from memory that a crash left to the kernel. It is written again
// with the same bytes, since a sync that failed has its pages pass for clean. All before it were durable when it was begun.
result<void> commit_log::settle_last(std::uint64_t at) {
  if (size_ == 0 && cut_off_ == 0) return {};
  auto const bytes = read_at(file_.get(), path_, at, size_ - at);
  if (!bytes) return bytes.error();
  if (bytes->size() != size_ - at) return error{errc::unavailable, path_ + " became shorter while it was read"};
  int why = write_all(file_.get(), *bytes, at);
  if (why == 0) why = sync_(file_.get());
  return why == 0 ? result<void>{} : failed(errc::unavailable, path_, "what was read can't be made durable", why);
}

result<void> commit_log::append(std::uint64_t number, std::string_view payload) {
  ATONE_ASSERT(number > last_number_ && payload.size() <= frame_bytes_max);
  if (failed_) return error{errc::unavailable, path_ + ": takes nothing since a write failed; open it anew"};
  auto const frame = frame_of(number, payload);
  int why = write_all(file_.get(), frame, size_);
  if (why == 0) why = sync_(file_.get());
  if (why != 0) {
    failed_ = true;
    return failed(errc::outcome_unknown, path_, "can't be written at byte " + std::to_string(size_), why);
  }
  size_ += frame.size();
  last_number_ = number;
  return {};
}

result<file_handle> commit_log::write_beside(std::function<result<std::string>(std::string_view)> const& kept, std::uint64_t& size) {
  auto const path = path_ + ".new";
  file_handle made{::open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644)};
  if (!made.is_open()) return failed(errc::unavailable, path, "can't be opened", errno);
  for (std::uint64_t at = 0; at < size_;) {
    auto const frame = frame_at(file_.get(), path_, at);
    if (!frame) return frame.error();
    if (!*frame) return error{errc::corrupt, path_ + " is damaged at byte " + std::to_string(at) + ": expected a whole frame"};
    auto const left = kept((*frame)->payload);
    if (!left) return left.error();
    at += head_bytes + (*frame)->payload.size();
    if (left->empty()) continue;
    auto const bytes = frame_of((*frame)->number, *left);
    if (int const why = write_all(made.get(), bytes, size); why != 0) return failed(errc::unavailable, path, "can't be written", why);
    size += bytes.size();
  }
  if (int const why = sync_(made.get()); why != 0) return failed(errc::unavailable, path, "can't be made durable", why);
  return made;
}

result<void> commit_log::rewrite(std::function<result<std::string>(std::string_view payload)> const& kept) {
  if (failed_) return error{errc::unavailable, path_ + ": takes nothing since a write failed; open it anew"};
  std::uint64_t size = 0;
  auto made = write_beside(kept, size);
  if (!made) {
    ::unlink((path_ + ".new").c_str());
    return made.error();
  }
  if (::rename((path_ + ".new").c_str(), path_.c_str()) != 0) return failed(errc::unavailable, path_, "can't be replaced", errno);
  file_ = *std::move(made);
  size_ = size;
  auto durable = sync_folder(folder_, sync_);
  failed_ = !durable;
  return durable;
}

}  // namespace atone::features
