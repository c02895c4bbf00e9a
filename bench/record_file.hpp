// The file of records: one JSON object per line, each written whole and at once, so that a run that is killed leaves whole lines.
#pragma once

#include "benchmark.hpp"

#include <sys/types.h>

#include <optional>
#include <string>

namespace longshore::bench {

/// On the one rank that writes. Without a name nothing is written.
class record_file {
 public:
  /// Opens the file for writing, and empties it; "-" is standard output. Throws errc::usage when that cannot be done.
  explicit record_file(const std::optional<std::string>& name);
  ~record_file();
  record_file(const record_file&) = delete;
  record_file& operator=(const record_file&) = delete;

  /// Throws errc::transport when the line could not be written (a full disk).
  void write(const json& record);
  /// Whether records go to standard output.
  [[nodiscard]] bool takes_standard_output() const noexcept { return name_ == "-"; }

 private:
  std::string name_;
  int file_ = -1;
  off_t whole_bytes_ = 0;  // of the lines written so far
};

}  // namespace longshore::bench
