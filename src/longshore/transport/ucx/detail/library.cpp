// Starts and ends UCX for one process. Connects to a peer when that is first needed, keeps the
// directory of regions, waits for operations within the deadline, and notices lost peers.
#include <longshore/core/clock.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/detail/long_tcp_segments.hpp>
#include <longshore/transport/ucx/detail/library.hpp>
#include <longshore/transport/ucx/detail/mapped_region.hpp>
#include <longshore/transport/ucx/detail/message_channels.hpp>

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <string_view>

namespace longshore::ucx {
namespace {

// The most regions at a time. Segments and channel sets are regions.
constexpr std::size_t max_regions = 2048;
// The directory is a region whose descriptor is published at the start, and not in the directory.
constexpr std::size_t directory_number = std::numeric_limits<std::size_t>::max();

void check(ucs_status_t status, const char* call) {
  if (status != UCS_OK) fail(errc::transport, "{}: {}", call, ucs_status_string(status));
}

std::string name_of(int peer) {
  return peer < 0 ? "the other ranks" : fmt::format("rank {}", peer);
}

std::string networks_allowed() {
  return fmt::format("UCX_TLS is '{}', UCX_NET_DEVICES '{}'; `ucx_info -d` lists what a host has",
                     environment_text("UCX_TLS").value_or("all"),
                     environment_text("UCX_NET_DEVICES").value_or("all"));
}

}  // namespace

library::library(process_bootstrap& bootstrap, double timeout_seconds)
    : bootstrap_(bootstrap),
      timeout_seconds_(timeout_seconds),
      endpoints_(bootstrap.size(), nullptr),
      region_numbers_in_use_(max_regions, false),
      unwinding_(std::uncaught_exceptions()) {
  bootstrap_.set_deadline(timeout_seconds);
  longshore::detail::use_long_tcp_segments();
  ucp_config_t* config = nullptr;
  check(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  // Allocate only from the kernel, so that the memory is zero and a page lies on the NUMA node of
  // the rank that first writes to the page.
  check(ucp_config_modify(config, "ALLOC_PRIO", "md:posix,md:sysv,mmap"), "ucp_config_modify");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  params.features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM;
  params.estimated_num_eps = bootstrap.size();
  const auto status = ucp_init(&params, config, &context_);
  ucp_config_release(config);
  if (status == UCS_ERR_NO_DEVICE)
    fail(errc::transport, "UCX has no network that it may use here: {}", networks_allowed());
  check(status, "ucp_init");
  ucp_worker_params_t worker_params{};
  worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker_params.thread_mode = UCS_THREAD_MODE_SINGLE;
  check(ucp_worker_create(context_, &worker_params, &worker_), "ucp_worker_create");
  messages_ = std::make_unique<active_messages>(*this);
  bootstrap_.set_progress([this] { progress(); });

  // Each rank publishes its address and the descriptor of its directory. The descriptors of other
  // regions are in the directory.
  directory_ = std::make_unique<mapped_region>(*this, max_regions * sizeof(region_descriptor),
                                               directory_number);
  ucp_address_t* address = nullptr;
  std::size_t address_bytes = 0;
  check(ucp_worker_get_address(worker_, &address, &address_bytes), "ucp_worker_get_address");
  const published_header header{directory_->descriptor(), one_sided::host_hash()};
  std::vector<std::byte> published(sizeof header + address_bytes);
  std::memcpy(published.data(), &header, sizeof header);
  std::memcpy(published.data() + sizeof header, address, address_bytes);
  ucp_worker_release_address(worker_, address);
  bootstrap_.publish(published);
}

library::~library() {
  if (std::uncaught_exceptions() > unwinding_) {  // the process ends, so leak everything
    static_cast<void>(directory_.release());
    static_cast<void>(messages_.release());
    return;
  }
  try {
    close();
  } catch (...) {  // a destructor cannot throw
    bootstrap_.abort(std::current_exception());
  }
}

void library::close() {
  quiet();
  closing_ = true;
  bootstrap_.barrier();
  directory_.reset();
  std::vector<ucs_status_ptr_t> closing;
  const ucp_request_param_t params{};
  for (const auto endpoint : endpoints_)
    if (endpoint != nullptr) closing.push_back(ucp_ep_close_nbx(endpoint, &params));
  for (const auto request : closing) {
    if (request == nullptr || UCS_PTR_IS_ERR(request)) continue;
    // The status is ignored: the peer may have closed its side first.
    static_cast<void>(wait_for_status(request, -1, "the end of connections"));
  }
  bootstrap_.barrier();
  bootstrap_.set_progress([] {});
  // UCX ends the process if memory of the program is left. The program learns of its mistake when
  // it destroys the owner of the memory (team_bound.hpp).
  const auto& in_use = region_numbers_in_use_;
  if (std::find(in_use.begin(), in_use.end(), true) != in_use.end()) return;
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

std::string library::version() const { return fmt::format("UCX {}", ucp_get_version_string()); }

std::size_t library::available_bytes(int ranks) const {
  return std::min(available_memory_bytes(), available_shared_memory_bytes()) / ranks;
}

std::string library::capacity_text() const {
  return fmt::format(
      "the ranks of this host can share {} bytes in all: use smaller arrays or fewer ranks{}",
      available_bytes(1), small_shared_memory_remedy());
}

std::unique_ptr<one_sided::region> library::allocate(std::size_t bytes) {
  // All ranks allocate and free in the same order, so all ranks find the same number.
  const auto free = std::find(region_numbers_in_use_.begin(), region_numbers_in_use_.end(), false);
  if (free == region_numbers_in_use_.end())
    fail(errc::unsupported, "{} regions exist, which is the most: free some first", max_regions);
  const auto number = static_cast<std::size_t>(free - region_numbers_in_use_.begin());
  region_numbers_in_use_[number] = true;
  try {
    auto region = std::make_unique<mapped_region>(*this, bytes, number);
    std::memcpy(directory_->local() + number * sizeof(region_descriptor), &region->descriptor(),
                sizeof(region_descriptor));
    return region;
  } catch (const error& e) {
    region_numbers_in_use_[number] = false;
    if (e.code() != errc::out_of_memory) throw;
    return nullptr;
  }
}

void library::free_number(std::size_t number) {
  if (number != directory_number) region_numbers_in_use_[number] = false;
}

ucp_ep_h library::endpoint(int peer) {
  auto& endpoint = endpoints_[peer];
  if (endpoint != nullptr) return endpoint;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(bootstrap_.published_by(peer).data() +
                                                          sizeof(published_header));
  // Not within a host: UCX would not use shared memory with error handling, and a signal ends all
  // ranks there anyway.
  if (published_header_of(peer).host != one_sided::host_hash()) {
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {&library::on_peer_lost, this};
  }
  if (const auto status = ucp_ep_create(worker_, &params, &endpoint); status != UCS_OK) {
    endpoint = nullptr;
    if (status == UCS_ERR_UNREACHABLE)
      fail(errc::transport, "rank {} has no network that reaches rank {}: {}", rank(), peer,
           networks_allowed());
    fail(errc::transport, "ucp_ep_create to rank {}: {}", peer, ucs_status_string(status));
  }
  return endpoint;
}

library::published_header library::published_header_of(int peer) const {
  published_header header;
  std::memcpy(&header, bootstrap_.published_by(peer).data(), sizeof header);
  return header;
}

// Called by UCX, which exceptions must not cross.
void library::on_peer_lost(void* self, ucp_ep_h endpoint, ucs_status_t status) {
  auto& lib = *static_cast<library*>(self);
  const auto lost = std::find(lib.endpoints_.begin(), lib.endpoints_.end(), endpoint);
  if (lib.closing_ || lost == lib.endpoints_.end()) return;
  lib.lost_peer_ = static_cast<int>(lost - lib.endpoints_.begin());
  lib.lost_status_ = status;
}

void library::check_peers() const {
  if (lost_peer_ >= 0)
    fail(errc::peer_failed, "the connection to rank {} is lost: {}", lost_peer_,
         ucs_status_string(lost_status_));
  messages_->check();
}

library::region_descriptor library::fetch_descriptor(int peer, std::size_t number) {
  if (number == directory_number) return published_header_of(peer).directory;
  region_descriptor descriptor;
  directory_->get(peer, number * sizeof descriptor, &descriptor, sizeof descriptor);
  if (descriptor.key_bytes == 0)
    fail(errc::transport, "rank {} has not allocated region {} yet", peer, number);
  return descriptor;
}

void library::complete(ucs_status_ptr_t request, int peer, const char* operation) {
  if (request == nullptr) return;
  const auto status =
      UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : wait_for_status(request, peer, operation);
  if (status != UCS_OK)
    fail(errc::transport, "{} with {}: {}", operation, name_of(peer), ucs_status_string(status));
}

ucs_status_t library::wait_for_status(ucs_status_ptr_t request, int peer, const char* operation) {
  constexpr unsigned turns_per_check = 64;  // checks of the peers and of the clock
  double began = -1;
  for (unsigned turns = 1;; ++turns) {
    const auto status = ucp_request_check_status(request);
    if (status != UCS_INPROGRESS) {
      ucp_request_free(request);
      return status;
    }
    if (ucp_worker_progress(worker_) != 0 || turns % turns_per_check != 0) continue;
    if (!closing_) check_peers();
    const double now = monotonic_seconds();
    if (began < 0) began = now;
    if (timeout_seconds_ > 0 && now - began > timeout_seconds_)
      fail(errc::timeout,
           "rank {} of {} waited {:.1f} s for {} with {}: a rank is stuck, or gone "
           "(LONGSHORE_TIMEOUT)",
           rank(), size(), now - began, operation, name_of(peer));
    sched_yield();
  }
}

void library::progress() {
  if (ucp_worker_progress(worker_) != 0) return;
  check_peers();
  messages_->on_idle();
  // The kernel needs a core to receive over TCP. If a rank only spins, the kernel may wait for a
  // time slice. If a rank yields at every poll, it loses its core to other programs.
  constexpr unsigned polls_per_yield = 8;
  if (over_tcp_ && ++empty_polls_ % polls_per_yield == 0) sched_yield();
}

// UCX 1.13 has no function that returns the networks of an endpoint, but can print them: a line
// such as "lane[0]: 1:tcp/eth0.0 ..." per network.
// Over TCP, puts need the peer's CPU, and messages are faster.
bool library::makes_channels(int peer, bool is_local) {
  if (is_local) return false;
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* const printed = open_memstream(&text, &length);
  if (printed == nullptr) return false;
  ucp_ep_print_info(endpoint(peer), printed);
  std::fclose(printed);
  const std::string_view lines(text, length);
  int lanes = 0, over_tcp = 0;
  for (auto at = lines.find("lane["); at != std::string_view::npos;
       at = lines.find("lane[", at + 1)) {
    ++lanes;
    over_tcp +=
        lines.substr(at, lines.find('\n', at) - at).find(":tcp/") != std::string_view::npos ? 1 : 0;
  }
  std::free(text);
  const bool only_tcp = lanes > 0 && lanes == over_tcp;
  over_tcp_ = over_tcp_ || only_tcp;
  return only_tcp;
}

bool library::is_sending() const { return messages_->is_sending(); }
bool library::is_receiving() const { return messages_->is_receiving(); }

std::unique_ptr<one_sided::message_channel_sender> library::make_sender(const channel_end& end,
                                                                        one_sided::region& memory,
                                                                        std::size_t offset) {
  return std::make_unique<message_sender>(end, region_slots(end, memory, offset), *messages_,
                                          *this);
}

std::unique_ptr<one_sided::message_channel_receiver> library::make_receiver(
    const channel_end& end, one_sided::region& memory, std::size_t offset) {
  return std::make_unique<message_receiver>(end, region_slots(end, memory, offset), *messages_,
                                            *this);
}

void library::quiet() {
  const ucp_request_param_t params{};
  complete(ucp_worker_flush_nbx(worker_, &params), -1, "the completion of puts");
  messages_->on_flushed();
}

void detach_request(ucs_status_ptr_t request, const char* operation, int peer) {
  if (request == nullptr) return;
  if (UCS_PTR_IS_ERR(request))
    fail(errc::transport, "{} with rank {}: {}", operation, peer,
         ucs_status_string(UCS_PTR_STATUS(request)));
  ucp_request_free(request);
}

}  // namespace longshore::ucx
