// A worker that does not do what it should: told by the name of its plug-in.
#include <string_view>

#include "device/channel.hpp"

int main(int count, char** words) {
  using namespace atone::features;
  std::string_view const oddity = count > 1 ? words[1] : "";
  int stores = 0;
  while (true) {
    auto const request = receive_message(0, std::nullopt);
    if (!request) return 0;
    worker_message said;
    said.number = request->message.number;
    bool const is_store = request->message.word == worker_word::keep;
    if (oddity == "late" && is_store) --said.number;  // the answer to what was asked before
    if (oddity == "full" && is_store) {
      if (++stores == 2) return 9;
      said.status = device_status::refused;
    }
    if (!send_message(0, said)) return 1;
  }
}
