// The file that a feature store is: frames one after the other, each made durable before the next one is begun.
//
//   frame:  magic "ATFS" | length of the payload u32 | number u64 | CRC-32C of length, number and payload u32 | payload
//
// Numbers rise from frame to frame, with gaps. Since a frame is begun only when the one before is durable, a crash can have torn the last
// one at most: an unfinished frame with nothing whole behind it is cut off when the log is opened. Anything whole behind a damaged frame
// says that the disk has lost what was durable: that is an error, and nothing is changed. (What the disk has damaged in the last frame
// can't be told from what a crash has torn.)
//
// What a reader finds may be in the kernel's memory only: the last frame is made durable anew before the log is open.
//
// A write or sync that failed leaves unknown what is on the disk, and the kernel may have dropped the pages: the log takes nothing from
// then on, and is to be opened anew.
//
// Thread rules: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <atone/result.hpp>

namespace atone::features {

inline constexpr char log_name[] = "features.log";
inline constexpr char log_lock_name[] = "lock";
// Most bytes of one frame's payload.
inline constexpr std::size_t frame_bytes_max = std::size_t{256} << 20;

// Makes what was written to a descriptor, a file's or a folder's, durable: 0, or an errno.
using sync_function = std::function<int(int descriptor)>;
int sync_data(int descriptor);

// A descriptor that is closed.
class file_handle {
 public:
  file_handle() = default;
  explicit file_handle(int descriptor) : descriptor_(descriptor) {}
  file_handle(file_handle&& other) noexcept;
  file_handle& operator=(file_handle&& other) noexcept;
  ~file_handle();
  int get() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

class commit_log {
 public:
  // What a frame holds, in the order of the file. Errors end the opening.
  using reader = std::function<result<void>(std::uint64_t number, std::string_view payload)>;

  // Makes the folder where it is missing, and takes it for this process. Errors: conflict (another one holds it), unavailable (can't be
  // read or written), corrupt (damaged in the middle; names file and offset), and whatever `read` says.
  static result<commit_log> open(std::string const& folder, sync_function sync, reader const& read);

  // Durable when it returns. `number` is above every one before. Errors: outcome_unknown, unavailable (it failed before).
  result<void> append(std::uint64_t number, std::string_view payload);
  // Every frame anew, each with what `kept` leaves of its payload; empty ones are left out. A crash leaves the old file or the new one.
  // An error leaves the old one, and the log goes on; only when it is unknown which of the two stands it takes nothing any more.
  result<void> rewrite(std::function<result<std::string>(std::string_view payload)> const& kept);

  // It takes nothing any more.
  bool has_failed() const noexcept { return failed_; }
  std::uint64_t bytes() const noexcept { return size_; }
  // How much of a torn frame was cut off at the opening.
  std::uint64_t cut_off() const noexcept { return cut_off_; }
  std::string const& path() const noexcept { return path_; }

 private:
  commit_log(std::string folder, sync_function sync);
  result<void> take_folder();
  result<void> open_file();
  result<void> replay(reader const& read);
  result<void> settle_end(std::uint64_t at, std::uint64_t number);
  result<void> settle_last(std::uint64_t at);
  result<file_handle> write_beside(std::function<result<std::string>(std::string_view)> const& kept, std::uint64_t& size);

  std::string folder_;
  std::string path_;
  sync_function sync_;
  file_handle lock_;
  file_handle file_;
  std::uint64_t size_ = 0;
  std::uint64_t cut_off_ = 0;
  std::uint64_t last_number_ = 0;
  bool failed_ = false;
};

}  // namespace atone::features
