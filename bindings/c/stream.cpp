// Functions longshore_stream_...: a kernel of STREAM on arrays of this rank, of float or double.
// The functions are local; the program measures the time.
#include "handles.hpp"
#include "longshore.h"

#include <longshore/stream/stream.hpp>

struct longshore_stream : longshore::bindings::resource {
  using resource::resource;
  virtual void run() = 0;
  [[nodiscard]] virtual std::uint64_t wrong() = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

namespace {

using namespace longshore;
using namespace longshore::bindings;

template <class T>
class stream_of final : public longshore_stream {
 public:
  stream_of(longshore_team& owner, std::size_t elements, std::string_view memory, tasks workers,
            const stream_options& options)
      : longshore_stream(owner, "stream"),
        workers_(std::move(workers)),
        counted_bytes_(arrays_touched(options.kernel) * elements * sizeof(T)),
        loop_(own_arrays<T>(elements, memory), workers_, options) {}
  void run() override { loop_.run(); }
  [[nodiscard]] std::uint64_t wrong() override { return loop_.wrong_elements(); }
  [[nodiscard]] std::size_t bytes() const override { return counted_bytes_; }

 private:
  tasks workers_;
  std::size_t counted_bytes_;
  stream<own_arrays<T>> loop_;
};

std::unique_ptr<longshore_stream> make(longshore_team& owner, int type, std::size_t elements,
                                       const longshore_stream_options& given) {
  check_reserved(given.reserved, "longshore_stream_options");
  const stream_options options{
      .kernel = from_name<stream_kernel>(text_or(given.kernel, "triad")),
      .stores = from_name<store_kind>(text_or(given.stores, "ordinary")),
      .first_touch = from_name<first_touch>(text_or(given.first_touch, "auto"))};
  const std::string_view memory = text_or(given.memory, "malloc");
  tasks workers = tasks_named(owner.ranks, given.tasks, given.task_count);
  if (type == LONGSHORE_FLOAT32)
    return std::make_unique<stream_of<float>>(owner, elements, memory, std::move(workers), options);
  if (type == LONGSHORE_FLOAT64)
    return std::make_unique<stream_of<double>>(owner, elements, memory, std::move(workers),
                                               options);
  fail(errc::usage, "a stream of {}: the type must be LONGSHORE_FLOAT32 or LONGSHORE_FLOAT64",
       name_of_type(type));
}

}  // namespace

extern "C" {

int longshore_stream_create(longshore_team* team, int type, int64_t elements,
                            const struct longshore_stream_options* options,
                            longshore_stream** stream) {
  return guarded([&] {
    required(stream, "the pointer for the stream") = nullptr;
    longshore_team& owner = checked(team);
    const longshore_stream_options defaults{};
    *stream = owner.keep(make(owner, type, count_from(elements, "the number of elements"),
                              options == nullptr ? defaults : *options));
  });
}

int longshore_stream_free(longshore_stream* stream) { return free_object(stream); }

int longshore_stream_run(longshore_stream* stream) {
  return guarded([&] { checked(stream, "the stream").run(); });
}

int64_t longshore_stream_bytes(const longshore_stream* stream) {
  return static_cast<int64_t>(existing(stream, "the stream").bytes());
}

int64_t longshore_stream_wrong(longshore_stream* stream) {
  return static_cast<int64_t>(stream->wrong());
}
}
