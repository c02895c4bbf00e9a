#include <longshore/core/bytes.hpp>
#include <longshore/transport/one_sided/raw_calls.hpp>
#include <longshore/transport/one_sided/team.hpp>

namespace longshore::one_sided {
namespace {

// The calls and the region that they use.
class calls_with_memory final : public detail::raw_calls {
 public:
  calls_with_memory(team& team, std::size_t bytes)
      : memory_(team.make_region(message_at + round_up(bytes, message_at) + bytes)),
        calls_(team.lib().make_raw_calls(*memory_, message_at + round_up(bytes, message_at))) {
    team.checked_barrier({.kind = detail::collective::raw_calls});
  }

  void put(int peer, const void* from, std::size_t bytes, int count) override {
    calls_->put(peer, from, bytes, count);
  }
  [[nodiscard]] std::byte* source() override { return calls_->source(); }
  void send(int peer, std::size_t bytes, std::uint64_t number) override {
    calls_->send(peer, bytes, number);
  }
  [[nodiscard]] bool arrived(std::uint64_t number) override { return calls_->arrived(number); }
  [[nodiscard]] const std::byte* message() const override { return calls_->message(); }

 private:
  region_handle memory_;
  std::unique_ptr<detail::raw_calls> calls_;
};

}  // namespace

std::unique_ptr<detail::raw_calls> make_raw_calls(longshore::team& ranks, std::size_t bytes) {
  auto* const mine = dynamic_cast<team*>(&ranks);
  return mine == nullptr ? nullptr : std::make_unique<calls_with_memory>(*mine, bytes);
}

}  // namespace longshore::one_sided
