// Allocates a region by UCX, and makes puts, gets and atomics on the parts of other ranks.
// put_start() and get_start() only start an operation; library::quiet() waits for all of them.
#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/ucx/detail/mapped_region.hpp>

#include <cstring>

namespace longshore::ucx {
namespace {

// Started operations are not awaited here, because quiet() waits for all. Most operations complete
// at once and have no request.
const ucp_request_param_t default_params{};
void detach(ucs_status_ptr_t request, const char* operation, int peer) {
  if (request != nullptr) [[unlikely]]
    detach_request(request, operation, peer);
}

}  // namespace

mapped_region::mapped_region(library& lib, std::size_t bytes, std::size_t number)
    : region(nullptr), library_(lib), number_(number), parts_(lib.size()) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.length = round_up(bytes, page_bytes());
  params.flags = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK;
  if (const auto status = ucp_mem_map(lib.context(), &params, &memory_); status != UCS_OK)
    fail(errc::out_of_memory, "UCX cannot allocate {} bytes: {}", bytes, ucs_status_string(status));
  ucp_mem_attr_t attributes{};
  attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  ucp_mem_query(memory_, &attributes);
  set_local(static_cast<std::byte*>(attributes.address));

  void* key = nullptr;
  std::size_t key_bytes = 0;
  auto status = ucp_rkey_pack(lib.context(), memory_, &key, &key_bytes);
  const bool fits = status == UCS_OK && key_bytes <= sizeof own_.key;
  if (fits) {
    own_.address = reinterpret_cast<std::uint64_t>(local());
    own_.key_bytes = static_cast<std::uint32_t>(key_bytes);
    std::memcpy(own_.key, key, key_bytes);
  }
  if (status == UCS_OK) ucp_rkey_buffer_release(key);
  if (fits) return;
  ucp_mem_unmap(lib.context(), memory_);
  if (status != UCS_OK) fail(errc::transport, "ucp_rkey_pack: {}", ucs_status_string(status));
  fail(errc::transport,
       "the key of a region has {} bytes, at most {} are possible: use fewer networks (UCX_TLS, "
       "UCX_NET_DEVICES)",
       key_bytes, sizeof own_.key);
}

mapped_region::~mapped_region() {
  for (const auto& part : parts_)
    if (part.key != nullptr) ucp_rkey_destroy(part.key);
  ucp_mem_unmap(library_.context(), memory_);
  library_.free_number(number_);
}

void mapped_region::connect(int peer, const library::region_descriptor& descriptor) {
  auto& part = parts_[peer];
  part.endpoint = library_.endpoint(peer);
  part.address = descriptor.address;
  if (const auto status = ucp_ep_rkey_unpack(part.endpoint, descriptor.key, &part.key);
      status != UCS_OK)
    fail(errc::transport, "the memory of rank {} cannot be accessed: {}", peer,
         ucs_status_string(status));
}

std::byte* mapped_region::direct(int peer) {
  if (peer == library_.rank()) return local();
  auto& part = part_of(peer);
  void* mapped = nullptr;
  return ucp_rkey_ptr(part.key, part.address, &mapped) == UCS_OK ? static_cast<std::byte*>(mapped)
                                                                 : nullptr;
}

void mapped_region::put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) {
  auto& part = part_of(peer);
  detach(ucp_put_nbx(part.endpoint, from, bytes, part.address + offset, part.key, &default_params),
         "a put", peer);
}

void mapped_region::get_start(int peer, std::size_t offset, void* to, std::size_t bytes) {
  auto& part = part_of(peer);
  detach(ucp_get_nbx(part.endpoint, to, bytes, part.address + offset, part.key, &default_params),
         "a get", peer);
}

void mapped_region::put(int peer, std::size_t offset, const void* from, std::size_t bytes) {
  auto& part = part_of(peer);
  const auto request =
      ucp_put_nbx(part.endpoint, from, bytes, part.address + offset, part.key, &default_params);
  if (request != nullptr) library_.complete(request, peer, "a put");
}

void mapped_region::get(int peer, std::size_t offset, void* to, std::size_t bytes) {
  auto& part = part_of(peer);
  library_.complete(
      ucp_get_nbx(part.endpoint, to, bytes, part.address + offset, part.key, &default_params), peer,
      "a get");
}

ucs_status_ptr_t mapped_region::request_fetch_add(int peer, std::size_t offset,
                                                  const std::int64_t* amount,
                                                  std::int64_t* previous) {
  auto& part = part_of(peer);
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_REPLY_BUFFER | UCP_OP_ATTR_FIELD_DATATYPE;
  params.datatype = ucp_dt_make_contig(sizeof *amount);
  params.reply_buffer = previous;
  return ucp_atomic_op_nbx(part.endpoint, UCP_ATOMIC_OP_ADD, amount, 1, part.address + offset,
                           part.key, &params);
}

std::int64_t mapped_region::fetch_add(int peer, std::size_t offset, std::int64_t amount) {
  std::int64_t previous = 0;
  library_.complete(request_fetch_add(peer, offset, &amount, &previous), peer, "a fetch-and-add");
  return previous;
}

void mapped_region::fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                                    std::int64_t* previous) {
  detach(request_fetch_add(peer, offset, amount, previous), "a fetch-and-add", peer);
}

void mapped_region::put_with_signal(int peer, std::size_t offset, const void* from,
                                    std::size_t bytes, std::size_t signal_offset,
                                    const std::uint64_t* signal) {
  auto& part = part_of(peer);
  if (bytes > 0)
    detach(
        ucp_put_nbx(part.endpoint, from, bytes, part.address + offset, part.key, &default_params),
        "a message", peer);
  if (const auto status = ucp_worker_fence(library_.worker()); status != UCS_OK)
    fail(errc::transport, "a fence: {}", ucs_status_string(status));
  detach(ucp_put_nbx(part.endpoint, signal, sizeof *signal, part.address + signal_offset, part.key,
                     &default_params),
         "a signal", peer);
}

}  // namespace longshore::ucx
