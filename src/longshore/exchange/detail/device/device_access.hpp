// Where the fields of a plan lie, and what a plan and its movers share of the device.
#pragma once

#include <longshore/device/driver.hpp>
#include <longshore/exchange/detail/bound_fields.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace longshore::detail {

/// In which memories the fields of a rank lie. Memories without elements do not count.
struct field_place {
  bool has_host = false;
  std::optional<int> device = {};
};
/// Local. `elements` has the number of elements of each memory; further memories are not looked at.
/// Throws errc::usage if fields lie in memory of several devices, or of the host and a device.
[[nodiscard]] field_place place_of(const team& ranks, const rank_memories& memories,
                                   std::span<const std::size_t> elements);

/// Which packed messages the transport's library takes from memory of a device: none, those that are
/// posted between nodes, or all. Others are packed into memory of the host.
enum class device_messages { none, posted, all };

/// An event that a plan holds.
class held_event {
 public:
  held_event(device_driver& driver, int device, bool for_processes = false)
      : driver_(driver),
        device_(device),
        for_processes_(for_processes),
        event_(driver.take_event(device, for_processes)) {}
  ~held_event() {
    if (event_ != nullptr) driver_.give_back(device_, for_processes_, event_);
  }
  held_event(const held_event&) = delete;
  held_event& operator=(const held_event&) = delete;
  [[nodiscard]] const device_event& operator*() const noexcept { return *event_; }
  /// No other plan gets the event, because a peer may still wait for it.
  void abandon() noexcept { event_ = nullptr; }

 private:
  device_driver& driver_;
  int device_;
  bool for_processes_;
  const device_event* event_;
};

/// The device of a plan on this rank, and the stream of the exchange that runs.
struct plan_device {
  plan_device(team& team, device_driver& by, int number)
      : ranks(team),
        driver(by),
        device(number),
        own_stream(by.make_stream(number)),
        stream(own_stream.get()),
        done(by, number) {}

  team& ranks;
  device_driver& driver;
  int device;
  std::shared_ptr<void> own_stream;  ///< for exchanges without a stream of the program
  device_stream stream;
  held_event done;          ///< the end of the exchange on `stream`
  bool is_enqueued = true;  ///< whether all work of the exchange is on `stream`
  device_messages sent_from_device = device_messages::none;
};

}  // namespace longshore::detail
