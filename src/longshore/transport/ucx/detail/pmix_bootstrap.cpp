// Exchanges the addresses of processes through the PMIx of the launcher. Each rank puts a value, a
// fence copies all values, and other ranks get them. The functions of PMIx are looked up in the
// library at run time.
#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/ucx/detail/pmix_bootstrap.hpp>

#include <dlfcn.h>
#include <fmt/core.h>
#include <pmix.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace longshore::ucx {
namespace {

constexpr const char* library_file = "libpmix.so.2";  // of PMIx 2 to 5
constexpr const char* address_key = "longshore.address";

void* open_library() {
  if (std::getenv("PMIX_RANK") == nullptr && std::getenv("PMIX_NAMESPACE") == nullptr)
    fail(errc::transport,
         "LONGSHORE_UCX_START is pmix, but no launcher with PMIx started this program: start it by "
         "mpirun of Open MPI, prterun or srun --mpi=pmix");
  void* const handle = dlopen(library_file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    fail(errc::transport, "the library of PMIx cannot be loaded: {}", dlerror());
  return handle;
}

}  // namespace

struct pmix_library {
  void* handle = open_library();
  decltype(&PMIx_Init) init = find<decltype(&PMIx_Init)>("PMIx_Init");
  decltype(&PMIx_Finalize) finalize = find<decltype(&PMIx_Finalize)>("PMIx_Finalize");
  decltype(&PMIx_Abort) abort = find<decltype(&PMIx_Abort)>("PMIx_Abort");
  decltype(&PMIx_Put) put = find<decltype(&PMIx_Put)>("PMIx_Put");
  decltype(&PMIx_Commit) commit = find<decltype(&PMIx_Commit)>("PMIx_Commit");
  decltype(&PMIx_Fence_nb) fence = find<decltype(&PMIx_Fence_nb)>("PMIx_Fence_nb");
  decltype(&PMIx_Get) get = find<decltype(&PMIx_Get)>("PMIx_Get");
  decltype(&PMIx_Error_string) error_string =
      find<decltype(&PMIx_Error_string)>("PMIx_Error_string");
  pmix_proc_t own_process{};

  template <class Function>
  [[nodiscard]] Function find(const char* name) const {
    void* const found = dlsym(handle, name);
    if (found == nullptr)
      fail(errc::transport, "{} has no {}: PMIx 2 or later is needed", library_file, name);
    return reinterpret_cast<Function>(found);
  }
  void check(pmix_status_t status, const char* call) const {
    if (status != PMIX_SUCCESS) fail(errc::transport, "{}: {}", call, error_string(status));
  }
  [[nodiscard]] pmix_proc_t process(std::uint32_t rank) const {
    pmix_proc_t process = own_process;
    process.rank = rank;
    return process;
  }
};

pmix_bootstrap::pmix_bootstrap(double timeout_seconds)
    : library_(std::make_unique<pmix_library>()) {
  set_deadline(timeout_seconds);
  {
    const watched_call limit(timeout_seconds, "PMIx_Init");
    library_->check(library_->init(&library_->own_process, nullptr, 0), "PMIx_Init");
  }
  const pmix_proc_t job = library_->process(PMIX_RANK_WILDCARD);
  pmix_value_t* size = nullptr;
  library_->check(library_->get(&job, PMIX_JOB_SIZE, nullptr, 0, &size),
                  "PMIx_Get of the number of processes");
  if (size->type != PMIX_UINT32)
    fail(errc::transport, "PMIx gives the number of processes as type {}", size->type);
  size_ = static_cast<int>(size->data.uint32);
  std::free(size);
  rank_ = static_cast<int>(library_->own_process.rank);
}

pmix_bootstrap::~pmix_bootstrap() {
  const watched_call limit(deadline_seconds_, "PMIx_Finalize");
  library_->finalize(nullptr, 0);
}

void pmix_bootstrap::put(const std::string& key, std::span<const std::byte> mine) {
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  // PMIx copies the bytes, so the cast is safe.
  value.data.bo.bytes = reinterpret_cast<char*>(const_cast<std::byte*>(mine.data()));
  value.data.bo.size = mine.size();
  library_->check(library_->put(PMIX_GLOBAL, key.c_str(), &value), "PMIx_Put");
}

std::vector<std::byte> pmix_bootstrap::get(int rank, const std::string& key) {
  const pmix_proc_t process = library_->process(static_cast<std::uint32_t>(rank));
  pmix_value_t* value = nullptr;
  library_->check(library_->get(&process, key.c_str(), nullptr, 0, &value), "PMIx_Get");
  if (value->type != PMIX_BYTE_OBJECT)
    fail(errc::transport, "PMIx gives '{}' of rank {} as type {}", key, rank, value->type);
  const auto* const begin = reinterpret_cast<const std::byte*>(value->data.bo.bytes);
  std::vector<std::byte> data(begin, begin + value->data.bo.size);
  std::free(value->data.bo.bytes);
  std::free(value);
  return data;
}

void pmix_bootstrap::fence(bool collect) {
  // 1 means pending, because PMIx uses 0 and negative numbers. This function and the callback share
  // the ownership, because a timeout may end this function before the callback.
  const auto outcome = std::make_shared<std::atomic<int>>(1);
  auto* const shared = new std::shared_ptr(outcome);
  const pmix_proc_t all = library_->process(PMIX_RANK_WILDCARD);
  pmix_info_t info{};
  std::strncpy(info.key, PMIX_COLLECT_DATA, sizeof info.key - 1);
  info.value.type = PMIX_BOOL;
  info.value.data.flag = collect;
  const auto on_complete = [](pmix_status_t status, void* user_data) {
    const std::unique_ptr<std::shared_ptr<std::atomic<int>>> result(
        static_cast<std::shared_ptr<std::atomic<int>>*>(user_data));
    (*result)->store(status, std::memory_order_release);
  };
  const auto started = library_->fence(&all, 1, &info, 1, on_complete, shared);
  if (started != PMIX_SUCCESS) delete shared;  // PMIx will not call the callback
  if (started == PMIX_OPERATION_SUCCEEDED) return;
  library_->check(started, "PMIx_Fence_nb");
  for (const double began = monotonic_seconds(); outcome->load(std::memory_order_acquire) == 1;)
    pause(began);
  library_->check(*outcome, "PMIx_Fence_nb");
}

// A key can have only one value per process, so each allgather uses a new key.
std::vector<std::uint64_t> pmix_bootstrap::allgather(std::uint64_t mine) {
  const std::string key = fmt::format("longshore.{}", allgathers_++);
  put(key, std::as_bytes(std::span(&mine, 1)));
  library_->check(library_->commit(), "PMIx_Commit");
  fence(true);
  std::vector<std::uint64_t> gathered(size_, mine);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    const auto data = get(rank, key);
    if (data.size() != sizeof mine)
      fail(errc::transport, "PMIx gives {} bytes of rank {} for {}", data.size(), rank,
           sizeof mine);
    std::memcpy(&gathered[rank], data.data(), sizeof mine);
  }
  return gathered;
}

void pmix_bootstrap::publish(std::span<const std::byte> mine) {
  put(address_key, mine);
  library_->check(library_->commit(), "PMIx_Commit");
  fence(true);
  published_.clear();
  published_.emplace(rank_, std::vector<std::byte>(mine.begin(), mine.end()));
}

std::span<const std::byte> pmix_bootstrap::published_by(int rank) {
  const auto found = published_.find(rank);
  return found != published_.end() ? found->second
                                   : published_.emplace(rank, get(rank, address_key)).first->second;
}

void pmix_bootstrap::abort(int status) {
  library_->abort(status, "longshore: see above", nullptr, 0);
  std::_Exit(status);
}

}  // namespace longshore::ucx
