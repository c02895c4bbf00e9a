#include <longshore/halo/detail/neighbour_mail.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>

namespace longshore::detail {
namespace {

constexpr std::size_t page_of_a_letter = 2048;
constexpr int slots = 2;

std::vector<channel_end> ends(std::span<const int> peers) {
  std::vector<channel_end> all;
  for (const int peer : peers) all.push_back({peer, page_of_a_letter});
  return all;
}

}  // namespace

neighbour_mail::neighbour_mail(team& ranks, std::vector<int> peers)
    : ranks_(ranks), peers_(std::move(peers)), mapped_(ranks.transport_name() == "threads") {
  channels_ = ranks.open_channels(ends(peers_), ends(peers_), slots);
}

// A letter goes as full pages and a last one that is not full, empty if need be: so its reader
// knows where it ends.
std::vector<std::vector<std::byte>> neighbour_mail::exchange(
    const std::vector<std::vector<std::byte>>& letters) {
  std::vector<std::vector<std::byte>> came(peers_.size());
  std::vector<std::size_t> sent(peers_.size(), 0);
  std::vector<bool> is_sent(peers_.size(), false), has_come(peers_.size(), false);
  std::size_t open_ends = 2 * peers_.size();
  const auto send_page = [&](std::size_t i) {
    std::byte* const slot = channels_->sender(i).reserve();
    if (slot == nullptr) return false;
    const std::size_t bytes = std::min(page_of_a_letter, letters[i].size() - sent[i]);
    if (bytes > 0) std::memcpy(slot, letters[i].data() + sent[i], bytes);
    channels_->sender(i).commit(bytes);
    sent[i] += bytes;
    is_sent[i] = bytes < page_of_a_letter;
    open_ends -= is_sent[i] ? 1 : 0;
    return true;
  };
  const auto receive_page = [&](std::size_t i) {
    const auto page = channels_->receiver(i).front();
    if (!page) return false;
    came[i].insert(came[i].end(), page->begin(), page->end());
    has_come[i] = page->size() < page_of_a_letter;
    channels_->receiver(i).release();
    open_ends -= has_come[i] ? 1 : 0;
    return true;
  };
  const auto step = [&] {
    bool moved = false;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      while (!is_sent[i] && send_page(i)) moved = true;
      while (!has_come[i] && receive_page(i)) moved = true;
    }
    return moved;
  };
  while (open_ends > 0) {
    step();
    if (open_ends == 0) break;
    for (waiter wait(ranks_, "a neighbour to make the same plan"); !step(); wait.pause()) {
    }
  }
  return came;
}

}  // namespace longshore::detail
