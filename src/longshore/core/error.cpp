#include <longshore/core/error.hpp>

namespace longshore {

const char* name_of(errc code) noexcept {
  switch (code) {
    case errc::usage: return "usage";
    case errc::unsupported: return "unsupported";
    case errc::out_of_memory: return "out of memory";
    case errc::timeout: return "timeout";
    case errc::peer_failed: return "peer failed";
    case errc::transport: return "transport";
  }
  return "unknown";
}

}  // namespace longshore
