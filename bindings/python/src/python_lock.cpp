#include "python_lock.hpp"

#include <pthread.h>
#include <semaphore.h>

#include <cerrno>

namespace longshore::python {
namespace {

sem_t turns;

void free_all_turns() { sem_init(&turns, 0, turn_to_ask::most_askers); }

}  // namespace

void turn_to_ask::prepare() {
  free_all_turns();
  static_cast<void>(pthread_atfork(nullptr, nullptr, free_all_turns));
}

void turn_to_ask::take() noexcept {
  while (sem_wait(&turns) != 0 && errno == EINTR) {
  }
}
void turn_to_ask::give_back() noexcept { sem_post(&turns); }

}  // namespace longshore::python
