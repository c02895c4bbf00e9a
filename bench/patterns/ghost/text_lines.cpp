// Reads a file, or the pipe from gzip. Every system has gzip; a library for it would be one more
// that users have to install.
#include "patterns/ghost/text_lines.hpp"

#include <longshore/core/error.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace longshore::bench {
namespace {

// Starts `gzip` with this file as its input and the pipe `output` as its output.
pid_t start_gzip(const std::string& name, int output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, name.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  // Drops messages of gzip, because each rank reads the file. The caller reports a torn file once.
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // If the rest is not read, SIGPIPE ends gzip in silence, even if this process ignores SIGPIPE.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char program[] = "gzip", unpack[] = "-dc";
  char* const words[] = {program, unpack, nullptr};
  pid_t process = -1;
  const int status = posix_spawnp(&process, program, &files, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (status != 0)
    fail(errc::usage, "{}: gzip cannot be started ({}): unpack the file first", name,
         std::strerror(status));
  return process;
}

}  // namespace

text_lines::text_lines(const std::string& name)
    : name_(name), file_(std::fopen(name.c_str(), "re")) {
  if (file_ == nullptr) fail(errc::usage, "{}: the file cannot be read", name_);
  if (!name.ends_with(".gz")) return;
  std::fclose(file_);
  file_ = nullptr;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail(errc::usage, "{}: no pipe to gzip ({})", name_, std::strerror(errno));
  file_ = fdopen(ends[0], "r");
  try {
    unpacker_ = start_gzip(name, ends[1]);
  } catch (...) {
    ::close(ends[1]);
    close();
    throw;
  }
  ::close(ends[1]);
}

text_lines::~text_lines() {
  close();
  std::free(buffer_);
}

bool text_lines::close() {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
  int status = 0;
  if (unpacker_ > 0) waitpid(unpacker_, &status, 0);
  unpacker_ = -1;
  return status == 0;
}

bool text_lines::next(std::string& line) {
  if (file_ == nullptr) return false;
  const ssize_t length = getline(&buffer_, &buffer_bytes_, file_);
  if (length >= 0) {
    const auto bytes = static_cast<std::size_t>(length);
    const bool is_whole = bytes > 0 && buffer_[bytes - 1] == '\n';
    if (!is_whole && !close()) refuse();  // the last line, which may be torn
    line.assign(buffer_, is_whole ? bytes - 1 : bytes);
    return true;
  }
  if (!close()) refuse();
  return false;
}

void text_lines::refuse() const { fail(errc::usage, "{}: gzip cannot unpack it", name_); }

}  // namespace longshore::bench
