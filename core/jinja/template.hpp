// Chat templates: Jinja2 as transformers sets it up (ImmutableSandboxedEnvironment, trim_blocks, lstrip_blocks, loop
// controls, {% generation %}, tojson as json.dumps, raise_exception, strftime_now), with the results of Python's.
//
//   source -> lexer -> tokens -> parser -> nodes -> scopes (parse)      once for a template
//   variables (JSON) + moment -> text (render)                          bounded in steps, output, memory and depth
//
// Templates can access only the variables that they are given.
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
  uint32_t line = 0, column = 0;  ///< from 1, in code points; 0: no position
};

/// A range of the output: text of messages, or the template's own.
struct Run {
  uint32_t bytes = 0;
  bool content = false;
};

struct Rendering {
  std::string text;
  std::vector<Run> runs;  ///< if marks were requested
  TemplateError error;    ///< code kNone: no error
};

class Template {
 public:
  explicit Template(std::string_view source);

  /// Why the template cannot be rendered; code kNone if it can.
  [[nodiscard]] const TemplateError& error() const { return error_; }
  /// Renders with variables from a JSON object. marks: record which text comes from messages, tools and documents.
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
