// Segments over a one-sided library: loads and stores within a node, puts and gets between nodes.
#pragma once

#include <longshore/transport/one_sided/detail/team.hpp>
#include <longshore/transport/segment.hpp>

namespace longshore::one_sided {

class segment final : public longshore::segment {
 public:
  segment(team& team, region_owner memory, std::size_t bytes);

  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override;
  void fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                       std::int64_t* previous) override;
  void quiet() override;

 private:
  void check(int peer, std::size_t offset, std::size_t bytes) const;
  /// Check the range, and copy directly if the peer is on the same node. Return true if nothing is
  /// left to do.
  [[nodiscard]] bool put_direct(int peer, std::size_t offset, const void* from,
                                std::size_t bytes) const;
  [[nodiscard]] bool get_direct(int peer, std::size_t offset, void* to, std::size_t bytes) const;
  /// The part of `peer` if puts and gets copy from and to it, else null.
  [[nodiscard]] std::byte* direct_to_move(int peer) const noexcept {
    return by_library_ ? nullptr : direct(peer);
  }
  /// The address of the integer if atomic instructions of the processor suffice, else null.
  [[nodiscard]] std::int64_t* integer_of_processor(int peer, std::size_t offset) const;

  team& team_;
  region_owner memory_;
  bool by_library_;  // library::moves_within_nodes()
  bool pending_ = false;
};

}  // namespace longshore::one_sided
