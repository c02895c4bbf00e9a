#include <longshore/halo/face_exchange.hpp>

#include <longshore/core/error.hpp>

namespace longshore {

face_exchange::face_exchange(const rank_grid& grid, const face_options& options)
    : sides_(face_directions(grid.dimensions())), bytes_(options.bytes) {
  if (bytes_ == 0) fail(errc::usage, "an exchange of faces of 0 bytes: at least 1");
  if (bytes_ > PTRDIFF_MAX / (2 * sides_.size()))
    fail(errc::out_of_memory, "faces of {} bytes are more than any memory holds", bytes_);
  send_ = readable_memory(grid.ranks(), sides_.size() * bytes_);
  receive_ = pages(sides_.size() * bytes_);
  // Sides come in pairs, down and up. What travels towards side i arrives on the other one of the
  // pair.
  const auto buffer = [&](std::byte* memory, std::size_t i) {
    return detail::strided_block{memory + i * bytes_, 1, {bytes_, 1, 1}, {1, 0, 0}};
  };
  detail::halo_round round;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    detail::halo_leg leg{
        sides_[i], {grid.neighbour(sides_[i]), {}}, {grid.neighbour(sides_[i].opposite()), {}}};
    if (leg.outgoing.exists()) leg.outgoing.parts.push_back(buffer(send_.data(), i));
    if (leg.incoming.exists()) leg.incoming.parts.push_back(buffer(receive_.data(), i ^ 1));
    has_neighbour_.push_back(leg.outgoing.exists());
    round.push_back(std::move(leg));
  }
  carrier_ = make_carrier(options.mode, grid, std::move(round),
                          {.delivery = options.delivery, .readable = {send_.ticket()}});
}

void face_exchange::start() {
  if (in_flight_) fail(errc::usage, "an exchange of faces was started twice: wait() comes between");
  in_flight_ = true;
  carrier_->start();
}

bool face_exchange::test() {
  if (in_flight_ && carrier_->test()) in_flight_ = false;
  return !in_flight_;
}

void face_exchange::wait() {
  if (!in_flight_) fail(errc::usage, "an exchange of faces was waited for, but not started");
  carrier_->wait();
  in_flight_ = false;
}

std::span<const std::byte> face_exchange::received(std::size_t i) const {
  if (!has_neighbour_[i]) return {};
  return {carrier_->received(i ^ 1), bytes_};
}

}  // namespace longshore
