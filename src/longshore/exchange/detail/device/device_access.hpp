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

struct event_returner {
  device_driver* driver = nullptr;
  int device = 0;
  bool for_processes = false;
  void operator()(const device_event* event) const {
    driver->give_back(device, for_processes, event);
  }
};
/// An event that a plan holds. No other plan gets an event for which a peer may still wait: it is
/// released.
using held_event = std::unique_ptr<const device_event, event_returner>;
[[nodiscard]] inline held_event hold_event(device_driver& driver, int device,
                                           bool for_processes = false) {
  return {driver.take_event(device, for_processes), {&driver, device, for_processes}};
}

/// The device of a plan on this rank, and the stream of the exchange that runs.
struct plan_device {
  plan_device(team& team, device_driver& by, int number)
      : ranks(team),
        driver(by),
        device(number),
        own_stream(by.make_stream(number)),
        stream(own_stream.get()),
        done(hold_event(by, number)) {}

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
