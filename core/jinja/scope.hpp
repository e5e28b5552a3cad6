// Resolves variables for the whole template before it runs, by the rules of Jinja2's compiler (idtracking):
//
//   - A scope (template, block, macro, call, loop, with, filter, set block, autoescape) has the names that its own
//     statements read or set. {% if %} is not a scope.
//   - A name that a scope sets starts as a copy of the outer variable (alias) or as undefined. Assignments end with
//     the scope.
//   - A name that no enclosing scope has is looked up in the context when the scope is entered.
//   - Macros see the variables around their definition with the values that they have when the macro runs.
#pragma once

#include <vector>

#include "jinja/ast.hpp"

namespace ggufscope::jinja {

struct Program {
  Nodes body;
  Scope scope;
  FunctionLayout* layout = nullptr;
  Place self;
  std::vector<Node*> blocks;
};

/// Resolves the names of a program. Returns false and sets `problem` on an error.
[[nodiscard]] bool analyze(Arena& arena, Program& program, Problem& problem);

}  // namespace ggufscope::jinja
