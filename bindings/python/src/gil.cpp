#include "gil.hpp"

#include <pthread.h>
#include <semaphore.h>

#include <cerrno>

namespace longshore::python {
namespace {

sem_t turns;

void free_all_turns() { sem_init(&turns, 0, gil_turn::most_waiting); }

}  // namespace

void gil_turn::prepare() {
  free_all_turns();
  static_cast<void>(pthread_atfork(nullptr, nullptr, free_all_turns));
}

void gil_turn::take() noexcept {
  while (sem_wait(&turns) != 0 && errno == EINTR) {
  }
}
void gil_turn::give_back() noexcept { sem_post(&turns); }

}  // namespace longshore::python
