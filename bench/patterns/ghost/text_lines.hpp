// The lines of a text file, which the program gzip unpacks if the name ends in .gz.
#pragma once

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
  /// Closes the file. Returns the status with which gzip ended.
  int close();

  std::string name_;
  bool is_packed_;
  std::FILE* file_;
  char* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace longshore::bench
