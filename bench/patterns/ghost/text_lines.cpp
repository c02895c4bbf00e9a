// Reads a file, or the pipe from gzip. Every system has gzip; a library for it would be one more
// that users have to install.
#include "patterns/ghost/text_lines.hpp"

#include <longshore/core/error.hpp>

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace longshore::bench {
namespace {

// Drops messages of gzip, because each rank reads the file. text_lines reports a torn file once.
std::string unpacking_command(std::string name) {
  for (std::size_t at = 0; (at = name.find('\'', at)) != std::string::npos; at += 4)
    name.replace(at, 1, R"('\'')");
  return fmt::format("exec gzip -dc <'{}' 2>/dev/null", name);
}

}  // namespace

text_lines::text_lines(const std::string& name)
    : name_(name), is_packed_(name.ends_with(".gz")), file_(std::fopen(name.c_str(), "re")) {
  if (file_ == nullptr) fail(errc::usage, "{}: the file cannot be read", name_);
  if (!is_packed_) return;
  std::fclose(file_);
  file_ = popen(unpacking_command(name).c_str(), "re");
  if (file_ == nullptr) fail(errc::usage, "{}: no pipe to gzip ({})", name_, std::strerror(errno));
}

text_lines::~text_lines() {
  if (file_ != nullptr) static_cast<void>(close());
  std::free(buffer_);
}

int text_lines::close() {
  return is_packed_ ? pclose(std::exchange(file_, nullptr))
                    : std::fclose(std::exchange(file_, nullptr));
}

bool text_lines::next(std::string& line) {
  if (file_ == nullptr) return false;
  const ssize_t length = getline(&buffer_, &buffer_bytes_, file_);
  const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(length, 0));
  const bool is_whole = bytes > 0 && buffer_[bytes - 1] == '\n';
  if (!is_whole) {  // the last line, which may be torn, or the end
    const int status = close();
    if (is_packed_ && WEXITSTATUS(status) == 127)
      fail(errc::usage, "{}: gzip cannot be started: unpack the file first", name_);
    if (is_packed_ && status != 0) fail(errc::usage, "{}: gzip cannot unpack it", name_);
  }
  line.assign(buffer_, is_whole ? bytes - 1 : bytes);
  return length >= 0;
}

}  // namespace longshore::bench
