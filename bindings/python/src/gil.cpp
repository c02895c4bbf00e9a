// The semaphore that counts the free turns to wait for the GIL (gil.hpp says why turns exist).
#include "gil.hpp"

#include <pthread.h>
#include <semaphore.h>

#include <cerrno>

namespace longshore::python {
namespace {

sem_t free_turns;

void make_all_turns_free() {
  constexpr int only_in_this_process = 0;
  sem_init(&free_turns, only_in_this_process, gil_turn::turn_count);
}

}  // namespace

void gil_turn::prepare() {
  make_all_turns_free();
  // The third function runs in the new process after each fork.
  static_cast<void>(pthread_atfork(nullptr, nullptr, make_all_turns_free));
}

void gil_turn::take() noexcept {
  while (sem_wait(&free_turns) != 0 && errno == EINTR) {  // a signal arrived: wait again
  }
}
void gil_turn::give_back() noexcept { sem_post(&free_turns); }

}  // namespace longshore::python
