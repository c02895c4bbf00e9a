// The file of records: one JSON object per line. Each line is written immediately and as a whole,
// so that a killed run leaves whole lines.
#pragma once

#include "facts/json.hpp"

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>

namespace longshore::bench {

/// Rank 0 writes the records. Any thread of its process may write the last record.
class record_file {
 public:
  /// Opens the file for writing and empties it. The name "-" is standard output. Without a name,
  /// records are dropped. Throws errc::usage if the file cannot be opened, or if another run of
  /// this host writes it now.
  explicit record_file(const std::optional<std::string>& name);
  ~record_file();
  record_file(const record_file&) = delete;
  record_file& operator=(const record_file&) = delete;

  /// Throws errc::transport if the line cannot be written, such as on a full disk.
  void write(const json& record);
  /// Like write(), but later records are dropped: a failure's record is the last one of its file.
  void write_last(const json& record);
  [[nodiscard]] bool takes_standard_output() const noexcept { return name_ == "-"; }

 private:
  void write_line(const json& record);

  std::string name_;
  std::mutex mutex_;
  int file_ = -1;
  bool ended_ = false;
  off_t whole_bytes_ = 0;  // bytes of complete lines
};

}  // namespace longshore::bench
