// atone_gpu_worker PLUGIN: one GPU in a process of its own. It is started by the core with a socket as its standard input, and ends when
// that closes, or when its device has failed: a process whose device has failed can't use it any more.
#include <cstdio>
#include <cstring>
#include <string>

#include <atone/features/gpu.hpp>

#include "device/arena.hpp"
#include "device/channel.hpp"
#include "device/library.hpp"
#include "threads/watch.hpp"

namespace {

using namespace atone::features;

class worker {
 public:
  explicit worker(std::string plugin) : plugin_(std::move(plugin)) {}
  ~worker() {
    if (session_ != nullptr) library_->close(session_);
  }
  worker(worker const&) = delete;
  worker& operator=(worker const&) = delete;

  worker_message answer(received_message request) {
    if (request.message.layout != device_layout()) return failed("the core is of another version");
    switch (request.message.word) {
      case worker_word::open: return open(request.message);
      case worker_word::heartbeat: return canary();
      case worker_word::keep: return keep(request);
      case worker_word::compute: return compute(request);
      case worker_word::answer: break;
    }
    return failed("the core asks what this worker does not know");
  }

 private:
  static worker_message failed(std::string const& why, device_status status = device_status::failed) {
    worker_message said;
    said.status = status;
    std::snprintf(said.why.text, sizeof said.why.text, "%s", why.c_str());
    return said;
  }

  // No memory is no fault of the device, and what doesn't fit now will not fit the next time.
  static worker_message failed(atone::error const& why) {
    if (why.code == atone::errc::exhausted) return failed("no memory for the canary: " + why.message, device_status::refused);
    return failed(why.message, why.code == atone::errc::unsupported ? device_status::unfit : device_status::failed);
  }

  worker_message canary() const {
    auto const done = compare_gpu_with_cpu(options_);
    return done ? worker_message{} : failed(done.error());
  }

  worker_message open(worker_message const& request) {
    auto const loaded = load_device_plugin(plugin_);
    if (!loaded) return failed(loaded.error());
    library_ = *loaded;
    options_.plugin = plugin_;
    options_.device = request.device;
    options_.thread_rows = request.tuning.thread_rows;
    options_.warp_rows = request.tuning.warp_rows;
    options_.block_threads = request.tuning.block_threads;
    options_.scratch_bytes = request.tuning.scratch_bytes;
    options_.result_bytes = request.tuning.result_bytes;
    auto said = canary();
    if (said.status == device_status::done) said.status = library_->open(request.device, &request.tuning, &session_, &said.why);
    return said;
  }

  // The image that came with a message.
  template <class Image>
  static Image* image_in(received_message& request, shared_memory& memory) {
    if (!request.file || request.message.bytes < sizeof(Image)) return nullptr;
    auto seen = shared_memory::see(std::move(request.file), request.message.bytes);
    if (!seen) return nullptr;
    memory = std::move(*seen);
    auto* const image = reinterpret_cast<Image*>(memory.at());
    to_pointers(*image);
    return image;
  }

  worker_message keep(received_message& request) const {
    shared_memory memory;
    auto const* const image = image_in<store_image>(request, memory);
    if (session_ == nullptr || image == nullptr) return failed("a store came without memory, or before the device was opened");
    worker_message said;
    said.status = library_->keep(session_, &image->store, &said.why);
    return said;
  }

  worker_message compute(received_message& request) const {
    shared_memory memory;
    auto* const image = image_in<job_image>(request, memory);
    if (session_ == nullptr || image == nullptr) return failed("a job came without memory, or before the device was opened");
    worker_message said;
    said.status = library_->compute(session_, &image->job, &said.why);
    to_distances(*image);
    return said;
  }

  std::string plugin_;
  gpu_options options_;
  device_interface const* library_ = nullptr;
  device_session* session_ = nullptr;
};

}  // namespace

int main(int count, char** words) {
  constexpr int socket = 0;
  if (count != 2) {
    std::fprintf(stderr, "usage: atone_gpu_worker PLUGIN, with a socket as standard input: it is started by Atone, not by people\n");
    return 2;
  }
  if (!exit_when_closed(socket)) return 1;
  worker one{words[1]};
  while (true) {
    auto request = receive_message(socket, std::nullopt);
    if (!request) return 0;
    auto const number = request->message.number;
    auto said = one.answer(std::move(*request));
    said.number = number;
    bool const is_heard = send_message(socket, said);
    if (!is_heard || (said.status != device_status::done && said.status != device_status::refused)) return 1;
  }
}
