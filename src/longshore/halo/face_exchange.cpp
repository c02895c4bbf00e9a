// Keeps the outgoing buffers of all faces in one block of memory, and the incoming buffers in
// another. Makes one message pair per face. The backend of the mode transfers the messages.
#include <longshore/halo/face_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/backends/exchange_backend.hpp>

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
  const auto buffer = [&](std::byte* memory, std::size_t i) {
    return detail::strided_box{memory + i * bytes_, 1, {bytes_, 1, 1}, {1, 0, 0}};
  };
  std::vector<detail::halo_round> rounds(1);
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    detail::message_pair pair{
        sides_[i], {grid.neighbour(sides_[i]), {}}, {grid.neighbour(sides_[i].opposite()), {}}};
    if (pair.outgoing.exists()) pair.outgoing.parts.push_back(buffer(send_.data(), i));
    if (pair.incoming.exists()) pair.incoming.parts.push_back(buffer(receive_.data(), i ^ 1));
    has_neighbour_.push_back(pair.outgoing.exists());
    rounds[0].push_back(std::move(pair));
  }
  auto backends =
      detail::make_backends(options.mode, grid, std::move(rounds),
                            {.delivery = options.delivery, .shareable = {send_.handle()}});
  backend_ = {grid.ranks(), "an exchange of faces", std::move(backends[0])};
}

face_exchange::~face_exchange() = default;
face_exchange::face_exchange(face_exchange&& other) noexcept = default;
face_exchange& face_exchange::operator=(face_exchange&& other) noexcept = default;

void face_exchange::start() {
  if (in_flight_)
    fail(errc::usage, "an exchange of faces was started twice: call wait() in between");
  backend_.check_team();
  in_flight_ = true;
  backend_->start();
}

bool face_exchange::test() {
  if (in_flight_ && backend_->test()) in_flight_ = false;
  return !in_flight_;
}

void face_exchange::wait() {
  if (!in_flight_)
    fail(errc::usage, "wait() on an exchange of faces that was not started: call start() first");
  backend_->wait();
  in_flight_ = false;
}

traffic face_exchange::moved() const { return backend_->moved(); }
halo_transfers face_exchange::transfers() const { return backend_->transfers(); }

std::span<const std::byte> face_exchange::received(std::size_t i) const {
  if (!has_neighbour_[i]) return {};
  return {backend_->received(i ^ 1), bytes_};
}

}  // namespace longshore
