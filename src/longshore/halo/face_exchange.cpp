// Keeps the outgoing buffers of all faces in one block of memory, and the incoming buffers in
// another. One message per face.
#include <longshore/halo/face_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/grid_handshake.hpp>
#include <longshore/halo/detail/round_program.hpp>

#include <array>

namespace longshore {

face_exchange::face_exchange(const rank_grid& grid, const face_options& options)
    : sides_(face_directions(grid.dimensions())), bytes_(options.bytes) {
  auto same = detail::grid_arguments(grid);
  same.add("bytes per face:", bytes_)
      .add("mode", name_of(options.mode))
      .add("delivery in place:", options.delivery == halo_delivery::in_place ? "yes" : "no");
  agree_on_call(grid.ranks(), "an exchange of faces", same, [&] {
    if (bytes_ == 0) fail(errc::usage, "an exchange of faces of 0 bytes: give at least 1");
    if (bytes_ > PTRDIFF_MAX / (2 * sides_.size()))
      fail(errc::out_of_memory, "faces of {} bytes are more than any memory holds", bytes_);
    send_ = shareable_memory(grid.ranks(), sides_.size() * bytes_);
    receive_ = pages(sides_.size() * bytes_);
  });
  // Side i ^ 1 is opposite to side i (face_directions). A message that travels towards side i
  // arrives on side i ^ 1 of its receiver.
  const auto at = [&](std::size_t i) {
    return detail::element_box{static_cast<std::ptrdiff_t>(i * bytes_), {bytes_, 1, 1}, {1, 0, 0}};
  };
  const bool has_calls = is_mpi_mode(options.mode);
  detail::exchange_program program;
  auto& round = program.rounds.emplace_back();
  std::size_t messages = 0;
  message_from_.resize(sides_.size());
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const int to = grid.neighbour(sides_[i]), from = grid.neighbour(sides_[i].opposite());
    if (has_calls) detail::add_call_pair(round, to >= 0, from >= 0);
    has_neighbour_.push_back(to >= 0);
    messages += (to >= 0 ? 1 : 0) + (from >= 0 ? 1 : 0);
    if (to >= 0) program.payload_bytes += bytes_;
    if (to >= 0 && (has_calls || to != grid.ranks().rank()))
      round.outgoing.push_back({to, {{0, at(i)}}});
    message_from_[i ^ 1] = round.incoming.size();
    if (from >= 0) round.incoming.push_back({from, {{1, at(i ^ 1), 0, at(i), from}}});
  }
  if (has_calls) detail::order_calls(round, grid, sides_);
  detail::plan_arguments possible("an exchange of faces", {});
  possible.attempt([&] {
    if (const auto reason =
            why_not(options.mode, grid.ranks().transport_name(), grid.shape(), grid.wraps()))
      fail(errc::unsupported, "{}", *reason);
  });
  auto setup = detail::halo_setup(grid, options.mode);
  setup.touched_bytes = messages * (bytes_ + detail::shared_line_bytes);
  if (options.delivery == halo_delivery::in_place && !has_calls) {
    setup.by = detail::carrier::channels;
    setup.keeps_slots = true;
  }
  setup.types = {&detail::element_type_of<std::byte>};
  setup.programs = {std::move(program)};
  detail::rank_memories memories{{{send_.data(), 1, 1}}, {{receive_.data(), 1, 1}}};
  memories[0][0].holder = std::make_shared<const detail::memory_holder>(
      detail::memory_holder{send_.handle(), send_.lifetime()});
  setup.memory = std::make_unique<detail::plan_memory>(grid.ranks(), memories);
  plan_ = {
      grid.ranks(), "an exchange of faces",
      std::make_unique<detail::exchange_plan>(grid.ranks(), std::move(setup), std::move(possible))};
}

face_exchange::~face_exchange() = default;
face_exchange::face_exchange(face_exchange&& other) noexcept = default;
face_exchange& face_exchange::operator=(face_exchange&& other) noexcept = default;

std::span<const halo_direction> face_exchange::sides() const noexcept { return sides_; }
std::span<std::byte> face_exchange::outgoing(std::size_t i) noexcept {
  return {send_.data() + i * bytes_, bytes_};
}
std::span<std::byte> face_exchange::incoming(std::size_t i) noexcept {
  return {receive_.data() + i * bytes_, bytes_};
}

void face_exchange::start() {
  if (in_flight_)
    fail(errc::usage, "an exchange of faces was started twice: call wait() in between");
  plan_.check_team();
  plan_->start(std::array{std::size_t{0}}, {});
  in_flight_ = true;
}

bool face_exchange::test() {
  if (in_flight_ && plan_->test()) in_flight_ = false;
  return !in_flight_;
}

void face_exchange::wait() {
  if (!in_flight_)
    fail(errc::usage, "wait() on an exchange of faces that was not started: call start() first");
  plan_->wait();
  in_flight_ = false;
}

traffic face_exchange::moved() const { return plan_->moved(0); }
exchange_transfers face_exchange::transfers() const { return plan_->transfers(0); }

std::span<const std::byte> face_exchange::received(std::size_t i) const {
  if (!has_neighbour_[i]) return {};
  const std::byte* const kept = plan_->kept(message_from_[i]);
  return {kept != nullptr ? kept : receive_.data() + i * bytes_, bytes_};
}

}  // namespace longshore
