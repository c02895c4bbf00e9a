// How launch/ reaches a transport on a foreign library. In a shared build such a transport is a
// module: a file that is loaded when a program asks for the transport (core/detail/module.hpp).
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <functional>
#include <memory>
#include <string>

namespace longshore::detail {

/// A transport whose library has been started. The destructor ends the library.
class started_transport {
 public:
  started_transport() = default;
  virtual ~started_transport() = default;
  started_transport(const started_transport&) = delete;
  started_transport& operator=(const started_transport&) = delete;
  /// Runs `body` once on every rank, as runtime::run does.
  virtual void run(const run_options& options, const std::function<void(team&)>& body) = 0;
};

struct transport_entry {
  /// Some libraries can be started only once in a process.
  std::unique_ptr<started_transport> (*start)(const run_options& options);
  /// Throws errc::usage if the file describes no machine of this transport; null for transports of
  /// real machines.
  void (*check_machine_file)(const std::string& file) = nullptr;
};

}  // namespace longshore::detail

// Each transport defines its own entry. The names have no namespace, so that modules can be asked
// for them.
extern "C" {
extern const longshore::detail::transport_entry entry_of_longshore_shmem;
extern const longshore::detail::transport_entry entry_of_longshore_ucx;
extern const longshore::detail::transport_entry entry_of_longshore_simulated;
}
