// Segments of the threads transport: a mapping of memory, cut into one part per rank. All ranks can
// access all parts, but direct() gives only parts of the same (virtual) node.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/team.hpp>

#include <memory>

namespace longshore::threads {

/// The mapping of a segment. The last rank that releases the mapping frees it.
struct shared_block {
  /// `ranks_share_cores`: then small parts may lie in one huge page. Otherwise each page lies near
  /// the core of its rank.
  shared_block(std::size_t part_bytes, int parts, bool ranks_share_cores);
  [[nodiscard]] std::byte* part(int rank) const noexcept {
    return memory.data() + rank * stride_bytes;
  }
  std::size_t stride_bytes;
  pages memory;
};

class segment final : public longshore::segment {
 public:
  segment(const team& team, std::shared_ptr<shared_block> block, std::size_t bytes);

  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override {
    put(peer, offset, from, bytes);
  }
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override {
    get(peer, offset, to, bytes);
  }
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override;
  // All calls are complete on return. The next synchronisation makes their data visible.
  void quiet() override {}

 private:
  std::shared_ptr<shared_block> block_;
};

}  // namespace longshore::threads
