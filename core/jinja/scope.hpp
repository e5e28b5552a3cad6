// Which variable a name means, found once for the whole template, by the rules of Jinja2's compiler (idtracking):
//
//   - a scope (template, block, macro, call, loop, with, filter, set block, autoescape) knows the names that its own
//     statements read or set; {% if %} is no scope
//   - a name that a scope sets starts as a copy of the outer variable (alias), or undefined; what is set ends with the
//   scope
//   - a name that no scope around knows is looked up in the context when the scope is entered
//   - macros see the variables around their definition, as they are when the macro runs
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

/// Fills in what nodes need to run. False: the problem says what is wrong.
[[nodiscard]] bool analyze(Arena& arena, Program& program, Problem& problem);

}  // namespace ggufscope::jinja
