// Runs a program over UCX: connects the processes, starts the library, and ends all processes if
// the start fails.
#include <longshore/core/launcher.hpp>
#include <longshore/transport/detail/transport_entry.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>
#include <longshore/transport/ucx/detail/library.hpp>
#include <longshore/transport/ucx/detail/process_bootstrap.hpp>

#include <exception>

namespace longshore::ucx {
namespace {

class started_library final : public longshore::detail::started_transport {
 public:
  explicit started_library(const run_options& options)
      : bootstrap_(process_bootstrap::join(*options.timeout_seconds)) {}
  void run(const run_options& options, const std::function<void(longshore::team&)>& body) override {
    try {
      library lib(*bootstrap_, *with_environment(options).timeout_seconds);
      one_sided::run(lib, options, [&body](longshore::team& team) {
        require_launch_of("PMIx", team.size());
        body(team);
      });
    } catch (
        ...) {  // an error of the start, where other ranks wait for this rank without a deadline
      bootstrap_->abort(std::current_exception());
    }
  }

 private:
  std::unique_ptr<process_bootstrap> bootstrap_;
};

}  // namespace
}  // namespace longshore::ucx

const longshore::detail::transport_entry entry_of_longshore_ucx = {
    .start = [](const longshore::run_options& options)
        -> std::unique_ptr<longshore::detail::started_transport> {
      return std::make_unique<longshore::ucx::started_library>(options);
    }};
