// Chat templates: Jinja2 as transformers sets it up (ImmutableSandboxedEnvironment, trim_blocks, lstrip_blocks, loop
// controls, {% generation %}, tojson as json.dumps, raise_exception, strftime_now), with the results of Python's.
//
//   source -> lexer -> tokens -> parser -> nodes -> scopes (parse)      once for a template
//   variables (JSON) + moment -> text (render)                          bounded in steps, output, memory and depth
//
// It has no access to anything but what it is given.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/runtime.hpp"
#include "jinja/scope.hpp"

namespace ggufscope::jinja {

struct TemplateError {
  Problem::Code code = Problem::Code::kNone;
  std::string message;
  uint32_t line = 0, column = 0;  ///< from 1, columns in code points; 0: no place is to blame
};

/// A stretch of a rendering: text of messages, or the template's own.
struct Run {
  uint32_t bytes = 0;
  bool content = false;
};

struct Rendering {
  std::string text;
  std::vector<Run> runs;  ///< where marks were asked for
  TemplateError error;    ///< code kNone: all is well
};

class Template {
 public:
  explicit Template(std::string_view source);

  /// Why it cannot be rendered; code kNone: it can.
  [[nodiscard]] const TemplateError& error() const { return error_; }
  /// The object of variables as JSON. marks: find out which text comes from messages, tools and documents.
  [[nodiscard]] Rendering render(std::string_view variables, const Moment& now, bool marks,
                                 const Limits& limits = {}) const;

  [[nodiscard]] const Program& program() const { return program_; }

 private:
  [[nodiscard]] TemplateError located(const Problem& problem) const;

  std::string source_;
  std::unique_ptr<Arena> arena_;
  Program program_;
  TemplateError error_;
};

}  // namespace ggufscope::jinja
