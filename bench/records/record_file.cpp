// Writes each record by system calls, without a buffer that a killed process would lose. Removes
// the partial line if the disk is full.
#include "records/record_file.hpp"

#include <longshore/core/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace longshore::bench {
namespace {

// Locks a file for its writer, and empties it. Returns false if another process has the lock. A
// lock ends with its process. Devices and pipes may have several writers. A file system without
// locks cannot tell whether there is another writer.
bool take(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return true;
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return ftruncate(file, 0) == 0;
}

}  // namespace

record_file::record_file(const std::optional<std::string>& name) : name_(name.value_or("")) {
  if (!name) return;
  file_ = takes_standard_output() ? STDOUT_FILENO
                                  : open(name_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0)
    fail(errc::usage,
         "--json: '{}' cannot be written: {}; name a file in a folder that you may write to", name_,
         std::strerror(errno));
  if (takes_standard_output() || take(file_)) return;
  const int error_number = errno;
  close(file_);
  fail(errc::usage, "--json: '{}' cannot be written: {}", name_,
       error_number == EWOULDBLOCK ? "another run writes it now; give each run a file of its own"
                                   : std::strerror(error_number));
}

record_file::~record_file() {
  if (file_ >= 0 && !takes_standard_output()) close(file_);
}

void record_file::write(const json& record) {
  const std::scoped_lock lock(mutex_);
  write_line(record);
}

void record_file::write_last(const json& record) {
  const std::scoped_lock lock(mutex_);
  write_line(record);
  ended_ = true;
}

void record_file::write_line(const json& record) {
  if (file_ < 0 || ended_) return;
  // Environments and arguments may hold bytes that are not UTF-8. Replaces these.
  const std::string line = record.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (std::size_t bytes_written = 0; bytes_written < line.size();) {
    const ssize_t written =
        ::write(file_, line.data() + bytes_written, line.size() - bytes_written);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error_number = errno;
      // Removes the partial line. Without effect on a terminal or a pipe.
      [[maybe_unused]] const int cut = ftruncate(file_, whole_bytes_);
      fail(errc::transport, "records cannot be written to '{}': {}", name_,
           std::strerror(error_number));
    }
    bytes_written += static_cast<std::size_t>(written);
  }
  whole_bytes_ += static_cast<off_t>(line.size());
}

}  // namespace longshore::bench
