// The lines of a text file, which the program gzip unpacks if the name ends in .gz.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>

namespace longshore::bench {

class text_lines {
 public:
  /// Throws errc::usage if the file cannot be read.
  explicit text_lines(const std::string& name);
  /// Closes the file, which may have been read in part.
  ~text_lines();
  text_lines(const text_lines&) = delete;
  text_lines& operator=(const text_lines&) = delete;

  /// Sets `line` to the next line without its end; false at the end of the file. Throws errc::usage
  /// if the file cannot be unpacked to its end.
  bool next(std::string& line);

 private:
  /// Closes the file, and returns whether gzip has unpacked all of it.
  bool close();
  [[noreturn]] void refuse() const;

  std::string name_;
  std::FILE* file_ = nullptr;
  pid_t unpacker_ = -1;  // gzip; -1 if there is none
  char* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace longshore::bench
