// The JavaScript interface of the jinja module: chat templates. A template is parsed once and may be rendered many
// times.
#include <emscripten/bind.h>

#include "jinja/template.hpp"
#include "object.hpp"
#include "span.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

class ChatTemplate {
 public:
  explicit ChatTemplate(std::string_view source) : template_(source) { rendering_.error = template_.error(); }

  /// The kind of error of the template or of the last rendering. 0: none; 1: an error of the template; 2: a limit was
  /// exceeded.
  [[nodiscard]] uint32_t error_kind() const { return static_cast<uint32_t>(rendering_.error.code); }
  [[nodiscard]] std::string error_message() const { return rendering_.error.message; }
  [[nodiscard]] uint32_t error_line() const { return rendering_.error.line; }
  [[nodiscard]] uint32_t error_column() const { return rendering_.error.column; }

  void set_date(double year, uint32_t month, uint32_t day) {
    now_.year = static_cast<int64_t>(year);
    now_.month = month;
    now_.day = day;
  }
  void set_time(uint32_t hour, uint32_t minute, uint32_t second, uint32_t microsecond, double epoch_seconds) {
    now_.hour = hour;
    now_.minute = minute;
    now_.second = second;
    now_.microsecond = microsecond;
    now_.epoch_seconds = static_cast<int64_t>(epoch_seconds);
  }

  /// Renders with the n bytes of JSON at an address from malloc. Returns false on an error; see error_kind().
  bool render(uintptr_t variables, uint32_t n, bool marks, double max_bytes) {
    jinja::Limits limits;
    limits.output_bytes = static_cast<size_t>(max_bytes);
    rendering_ = template_.render({reinterpret_cast<const char*>(variables), n}, now_, marks, limits);
    runs_.clear();
    for (const jinja::Run& run : rendering_.runs) {
      runs_.push_back(run.bytes);
      runs_.push_back(run.content ? 1 : 0);
    }
    return rendering_.error.code == jinja::Problem::Code::kNone;
  }
  Span text() {
    return {reinterpret_cast<uintptr_t>(rendering_.text.data()), static_cast<uint32_t>(rendering_.text.size())};
  }
  /// Pairs: number of bytes, and whether they are content of messages.
  Span runs() { return span_of(runs_); }

 private:
  jinja::Template template_;
  jinja::Moment now_;
  jinja::Rendering rendering_;
  std::vector<uint32_t> runs_;
};

/// Parses a template source of n bytes at an address from malloc.
uintptr_t make_template(uintptr_t bytes, uint32_t n) {
  return reinterpret_cast<uintptr_t>(new ChatTemplate({reinterpret_cast<const char*>(bytes), n}));
}

}  // namespace

EMSCRIPTEN_BINDINGS(jinja) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  function("ChatTemplate_new", &make_template);
  function("ChatTemplate_delete", &remove<ChatTemplate>);
  function("ChatTemplate_errorKind", method<ChatTemplate, &ChatTemplate::error_kind>);
  function("ChatTemplate_errorMessage", method<ChatTemplate, &ChatTemplate::error_message>);
  function("ChatTemplate_errorLine", method<ChatTemplate, &ChatTemplate::error_line>);
  function("ChatTemplate_errorColumn", method<ChatTemplate, &ChatTemplate::error_column>);
  function("ChatTemplate_setDate", method<ChatTemplate, &ChatTemplate::set_date>);
  function("ChatTemplate_setTime", method<ChatTemplate, &ChatTemplate::set_time>);
  function("ChatTemplate_render", method<ChatTemplate, &ChatTemplate::render>);
  function("ChatTemplate_text", method<ChatTemplate, &ChatTemplate::text>);
  function("ChatTemplate_runs", method<ChatTemplate, &ChatTemplate::runs>);
}

}  // namespace ggufscope
