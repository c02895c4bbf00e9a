// The file of records: one JSON object per line. Every line is written at once, so that a killed
// run leaves whole lines.
#pragma once

#include "facts/json.hpp"

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>

namespace longshore::bench {

/// One rank writes records; any thread of its process may write the last one. Without a name
/// nothing is written.
class record_file {
 public:
  /// Opens the file for writing and empties it; "-" is standard output. Throws errc::usage if that
  /// fails.
  explicit record_file(const std::optional<std::string>& name);
  ~record_file();
  record_file(const record_file&) = delete;
  record_file& operator=(const record_file&) = delete;

  /// Throws errc::transport if the line cannot be written (a full disk).
  void write(const json& record);
  /// As write(). Later records are dropped, so that the end of a failed run is the end of its file.
  void write_last(const json& record);
  /// Whether records go to standard output.
  [[nodiscard]] bool takes_standard_output() const noexcept { return name_ == "-"; }

 private:
  void write_line(const json& record);

  std::string name_;
  std::mutex mutex_;
  int file_ = -1;
  bool ended_ = false;
  off_t whole_bytes_ = 0;  // of the lines written so far
};

}  // namespace longshore::bench
