#include "emulator.hpp"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATONE_WATCHED_FIBERS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ATONE_WATCHED_FIBERS 1
#endif
#if defined(ATONE_WATCHED_FIBERS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

cuda_emulator::coordinates threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_emulator {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;
constexpr unsigned lanes = 32;

[[noreturn]] void give_up(char const* what) {
  std::fprintf(stderr, "emulated block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, what);
  std::abort();
}

// A thread of a block; or, with thread -1, who runs the block.
struct fiber {
  std::unique_ptr<char[]> stack;
  void const* bottom = nullptr;
  std::size_t size = 0;
  void* fake = nullptr;  // the sanitizer's
  ucontext_t entry{};
  std::jmp_buf place{};
  bool is_started = false;
  bool is_done = false;
};

struct meeting_point {
  unsigned arrived = 0;
  unsigned round = 0;
  meeting kind = meeting::block;
};

struct warp_room {
  meeting_point point;
  unsigned long long said[2][lanes] = {};
  unsigned turns[lanes] = {};  // two rooms in turn: nobody overwrites what others still read
};

fiber caller;
std::vector<fiber> fibers;
std::vector<warp_room> warps;
meeting_point block_point;
fiber* current = nullptr;
fiber* previous = nullptr;
std::function<void()> const* body = nullptr;
unsigned step = 1;  // from one fiber to the next
unsigned alive = 0;
unsigned fruitless = 0;  // changes of fiber since anything went on

void leave_for([[maybe_unused]] fiber& to, [[maybe_unused]] bool for_good) {
#if defined(ATONE_WATCHED_FIBERS)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &current->fake, to.bottom, to.size);
#endif
}

void arrive() {
#if defined(ATONE_WATCHED_FIBERS)
  void const* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(current->fake, &bottom, &size);
  if (previous == &caller) {
    caller.bottom = bottom;
    caller.size = size;
  }
#endif
  if (current != &caller) threadIdx.x = static_cast<unsigned>(current - fibers.data());
}

// ucontext enters a fiber, setjmp changes between them: swapcontext would ask the kernel each time.
void change_to(fiber& to, bool for_good) {
  leave_for(to, for_good);
  previous = current;
  if (_setjmp(current->place) == 0) {
    current = &to;
    if (to.is_started) _longjmp(to.place, 1);
    to.is_started = true;
    setcontext(&to.entry);
  }
  arrive();
}

unsigned next_of(unsigned thread) {
  auto const count = static_cast<unsigned>(fibers.size());
  do {
    thread = (thread + step) % count;
  } while (fibers[thread].is_done);
  return thread;
}

void yield() {
  if (++fruitless > 2 * alive + 2) give_up("waits where others of its block or warp never come");
  auto const next = next_of(threadIdx.x);
  if (&fibers[next] != current) change_to(fibers[next], false);
}

void enter() {
  arrive();
  (*body)();
  current->is_done = true;
  fruitless = 0;
  --alive;
  change_to(alive == 0 ? caller : fibers[next_of(threadIdx.x)], true);
}

void meet_at(meeting_point& point, unsigned expected, meeting kind) {
  if (point.arrived == 0) point.kind = kind;
  if (point.kind != kind) give_up("meets others in another operation");
  auto const round = point.round;
  if (++point.arrived == expected) {
    point.arrived = 0;
    ++point.round;
    fruitless = 0;
    return;
  }
  while (point.round == round) yield();
}

warp_room& own_warp() {
  return warps[threadIdx.x / lanes];
}

void prepare(unsigned threads) {
  if (fibers.size() != threads) fibers = std::vector<fiber>(threads);
  warps.assign(threads / lanes, warp_room{});
  block_point = meeting_point{};
  for (auto& one : fibers) {
    if (one.stack == nullptr) one.stack = std::unique_ptr<char[]>(new char[stack_bytes]);
#if defined(ATONE_WATCHED_FIBERS)
    __asan_unpoison_memory_region(one.stack.get(), stack_bytes);  // the frames of who was here before were never left
#endif
    one.bottom = one.stack.get();
    one.size = stack_bytes;
    one.fake = nullptr;
    one.is_started = one.is_done = false;
    getcontext(&one.entry);
    one.entry.uc_stack.ss_sp = one.stack.get();
    one.entry.uc_stack.ss_size = stack_bytes;
    one.entry.uc_link = nullptr;
    makecontext(&one.entry, enter, 0);
  }
}

}  // namespace

void run(unsigned blocks, unsigned threads, std::function<void()> const& kernel) {
  if (threads == 0 || threads % lanes != 0) give_up("expected whole warps");
  static unsigned launches = 0;
  step = launches++ % 2 == 0 ? 1 : threads - 1;
  body = &kernel;
  gridDim.x = blocks;
  blockDim.x = threads;
  for (unsigned block = 0; block < blocks; ++block) {
    blockIdx.x = block;
    prepare(threads);
    alive = threads;
    fruitless = 0;
    caller.is_started = true;
    current = &caller;
    change_to(fibers[step == 1 ? 0 : threads - 1], false);
  }
}

void meet(meeting kind) {
  if (kind == meeting::block) return meet_at(block_point, static_cast<unsigned>(fibers.size()), kind);
  meet_at(own_warp().point, lanes, kind);
}

unsigned long long exchange(unsigned long long mine, unsigned lane) {
  auto& warp = own_warp();
  auto const own = threadIdx.x % lanes;
  auto const turn = warp.turns[own]++ % 2;
  warp.said[turn][own] = mine;
  meet(meeting::shuffle);
  return lane < lanes ? warp.said[turn][lane] : mine;
}

unsigned ballot(bool mine) {
  auto& warp = own_warp();
  auto const own = threadIdx.x % lanes;
  auto const turn = warp.turns[own]++ % 2;
  warp.said[turn][own] = mine ? 1 : 0;
  meet(meeting::ballot);
  unsigned all = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) all |= static_cast<unsigned>(warp.said[turn][lane]) << lane;
  return all;
}

}  // namespace cuda_emulator
