// Finds for each name the scope that it belongs to, before the template runs.
#include "jinja/scope.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "base/sentence.hpp"
#include "jinja/symbols.hpp"
#include "jinja/tables.hpp"

namespace ggufscope::jinja {
namespace {

struct Frame {
  Symbols* symbols = nullptr;
  bool toplevel = false;
  bool soft = false;  // inside {% if %}: filters need to exist only when they run
  bool in_loop = false;
  uint8_t escape = 0;
};

class Analyzer {
 public:
  Analyzer(Arena& arena, Program& program, Problem& problem) : arena_(arena), program_(program), problem_(problem) {}

  bool run() {
    if (!check_depth()) return false;
    for (Node* node : program_.body) find_blocks(node);
    FunctionBuild* function = new_function(nullptr);
    Symbols* symbols = new_symbols(nullptr, function);
    program_.layout = function->layout;
    program_.self.slot = kNoSlot;
    if (!Undeclared::of(program_.body, {"self"}).empty()) program_.self = special(symbols, "self");
    for (Node* node : program_.body) collect(node, *symbols);
    program_.scope = scope_of(*symbols);
    walk_all(program_.body, {.symbols = symbols, .toplevel = true});
    for (Node* block : program_.blocks) walk_block(block);
    return problem_.code == Problem::Code::kNone;
  }

 private:
  void fail(const Node* node, std::initializer_list<Part> parts, Problem::Code code = Problem::Code::kTemplate) {
    if (problem_.code == Problem::Code::kNone) problem_ = {code, sentence(parts), node->at, true};
  }

  /// Limits the recursion of the walks below. A sum of n terms nests n levels deep.
  bool check_depth() {
    constexpr uint32_t kMaxDepth = 300;
    std::vector<std::pair<Node*, uint32_t>> waiting;
    for (Node* node : program_.body) waiting.push_back({node, 1});
    while (!waiting.empty()) {
      const auto [node, depth] = waiting.back();
      waiting.pop_back();
      if (depth > kMaxDepth) fail(node, {"it nests deeper than ", kMaxDepth, " levels"}, Problem::Code::kLimit);
      if (problem_.code != Problem::Code::kNone) return false;
      const uint32_t below = depth + 1;
      each_child(*node, [&](Node* child, Use) { waiting.push_back({child, below}); });
    }
    return true;
  }

  FunctionBuild* new_function(FunctionBuild* outer) {
    functions_.push_back(std::make_unique<FunctionBuild>());
    FunctionBuild* made = functions_.back().get();
    made->outer = outer;
    made->layout = arena_.create<FunctionLayout>();
    if (made->layout == nullptr) {
      problem_ = {Problem::Code::kLimit, "it takes too much memory", 0, true};
      made->layout = &spare_;
    }
    made->layout->outer = outer != nullptr ? outer->layout : nullptr;
    return made;
  }
  Symbols* new_symbols(Symbols* parent, FunctionBuild* function) {
    symbols_.push_back(std::make_unique<Symbols>());
    Symbols* made = symbols_.back().get();
    made->parent = parent;
    made->function = function;
    made->level = parent != nullptr ? parent->level + 1 : 0;
    return made;
  }
  Symbols* inner(const Frame& frame) { return new_symbols(frame.symbols, frame.symbols->function); }

  void find_blocks(Node* node) {
    if (node->kind == Kind::kBlock) {
      for (const Node* other : program_.blocks)
        if (other->text->view() == node->text->view())
          fail(node, {"there are two blocks ", Quoted{node->text->view()}});
      program_.blocks.push_back(node);
    }
    each_child(*node, [&](Node* child, Use) { find_blocks(child); });
  }

  Place place(const Symbols& from, const Symbols* owner, std::string_view name) {
    Place out;
    for (FunctionBuild* f = from.function; f != owner->function && f->outer != nullptr; f = f->outer) ++out.hops;
    out.slot = owner->function->slot(owner->level, name);
    return out;
  }
  Place special(Symbols* symbols, std::string_view name) {
    Str* str = arena_.create<Str>();
    if (str == nullptr) return {};
    *str = {.data = name.data(), .size = static_cast<uint32_t>(name.size())};
    symbols->parameter(str);
    return place(*symbols, symbols, name);
  }

  Scope scope_of(const Symbols& symbols) {
    Load* loads = arena_.create<Load>(symbols.known.size());
    if (loads == nullptr) {
      problem_ = {Problem::Code::kLimit, "it takes too much memory", 0, true};
      return {};
    }
    uint32_t n = 0;
    for (const Symbols::Known& one : symbols.known) {
      Load& load = loads[n++];
      load.kind = one.load;
      load.slot = symbols.function->slot(symbols.level, one.name->view());
      load.name = one.name;
      if (one.load == Load::Kind::kAlias) load.from = place(symbols, one.from, one.name->view());
    }
    return {loads, n};
  }

  // First walk: collects what a scope's own statements read and set. Nested scopes are separate.
  void collect_target(Node* node, Symbols& symbols, Use use) {
    if (node->kind == Kind::kName) {
      use == Use::kParameter ? symbols.parameter(node->text) : symbols.store(node->text);
    } else if (node->kind == Kind::kNsRef) {
      symbols.load(node->text);
    } else {
      for (Node* item : node->items) collect_target(item, symbols, use);
    }
  }
  void collect(Node* node, Symbols& symbols) {
    switch (node->kind) {
      case Kind::kName:
        return symbols.load(node->text);
      case Kind::kIf:
        return collect_if(node, symbols);
      case Kind::kMacro:
        return symbols.store(node->text);
      case Kind::kImport:
        collect(node->a, symbols);
        for (Node* name : node->items) symbols.store(name->text);
        return;
      case Kind::kSet:
        collect(node->b, symbols);
        return collect_target(node->a, symbols, Use::kStore);
      case Kind::kSetBlock:
        return collect_target(node->a, symbols, Use::kStore);
      case Kind::kFor:
        return collect(node->b, symbols);
      case Kind::kCallBlock:
      case Kind::kFilterBlock:
        if (node->a != nullptr) collect(node->a, symbols);
        return;
      case Kind::kWith:
        for (Node* value : node->rest) collect(value, symbols);
        return;
      case Kind::kAutoescape:
      case Kind::kBlock:
        return;
      default:
        each_child(*node, [&](Node* child, Use) { collect(child, symbols); });
    }
  }
  void collect_if(Node* node, Symbols& symbols) {
    collect(node->a, symbols);
    Symbols body = symbols, others = symbols, rest = symbols;
    for (Node* child : node->body) collect(child, body);
    for (Node* child : node->items) collect(child, others);
    for (Node* child : node->rest) collect(child, rest);
    symbols.merge({&body, &others, &rest});
  }

  // Second walk: resolves names, filters and tests, and checks where statements may occur.
  void walk_all(const Nodes& nodes, const Frame& frame) {
    for (Node* node : nodes) walk(node, frame);
  }
  void walk_name(Node* node, const Frame& frame) {
    const Symbols* owner = frame.symbols->owner(node->text->view());
    if (owner == nullptr) return fail(node, {"the name ", Quoted{node->text->view()}, " is not known here"});
    node->place = place(*frame.symbols, owner, node->text->view());
  }
  void walk_target(Node* node, const Frame& frame) {
    if (node->kind != Kind::kTuple) return walk_name(node, frame);
    for (Node* item : node->items) walk_target(item, frame);
  }
  void walk(Node* node, const Frame& frame) {
    if (problem_.code != Problem::Code::kNone) return;
    walk_kind(node, frame);
  }
  void walk_kind(Node* node, const Frame& frame) {
    switch (node->kind) {
      case Kind::kName:
        return walk_name(node, frame);
      case Kind::kFor:
        return walk_for(node, frame);
      case Kind::kIf: {
        Frame soft = frame;
        soft.soft = true;
        return each_child(*node, [&](Node* child, Use) { walk(child, soft); });
      }
      case Kind::kMacro:
        walk_name(node, frame);
        if (frame.toplevel) node->flags |= kTopLevel;
        return walk_macro(node, frame);
      case Kind::kCallBlock:
        walk_macro(node, frame);
        if (node->a != nullptr) walk(node->a, frame);
        return;
      case Kind::kSet:
        if (frame.toplevel) node->flags |= kTopLevel;
        walk_target(node->a, frame);
        return walk(node->b, frame);
      case Kind::kFilterBlock:
      case Kind::kSetBlock:
      case Kind::kWith:
      case Kind::kAutoescape:
        return walk_scope(node, frame);
      case Kind::kBlock:
        if ((node->flags & kScoped) != 0) node->scope2 = visible(frame);
        return;
      case Kind::kExtends:
        if (!frame.toplevel) fail(node, {"{% extends %} may not stand within another tag"});
        return walk(node->a, frame);
      case Kind::kBreak:
      case Kind::kContinue:
        if (!frame.in_loop)
          fail(node, {node->kind == Kind::kBreak ? "{% break %}" : "{% continue %}", " stands in no loop"});
        return;
      default:
        return walk_expression(node, frame);
    }
  }
  void walk_expression(Node* node, const Frame& frame) {
    if (node->kind == Kind::kOutput || node->kind == Kind::kConcat) node->flags |= frame.escape;
    if (node->kind == Kind::kFilter || node->kind == Kind::kTest) {
      const bool is_filter = node->kind == Kind::kFilter;
      node->builtin = is_filter ? find_filter(node->text->view()) : find_test(node->text->view());
      if (node->builtin == nullptr && !frame.soft)
        fail(node, {"there is no ", is_filter ? "filter " : "test ", Quoted{node->text->view()}});
    }
    Frame soft = frame;
    soft.soft = frame.soft || node->kind == Kind::kCond;
    each_child(*node, [&](Node* child, Use) { walk(child, soft); });
  }

  void walk_scope(Node* node, const Frame& frame) {
    Symbols* symbols = inner(frame);
    if (node->kind == Kind::kWith)
      for (Node* to : node->items) collect_target(to, *symbols, Use::kParameter);
    if (node->kind == Kind::kAutoescape) collect(node->a, *symbols);
    for (Node* child : node->body) collect(child, *symbols);
    if (node->kind == Kind::kFilterBlock) collect(node->a, *symbols);
    node->scope = scope_of(*symbols);
    Frame within = {.symbols = symbols, .in_loop = frame.in_loop, .escape = frame.escape};
    switch (node->kind) {
      case Kind::kSetBlock:
        if (frame.toplevel) node->flags |= kTopLevel;
        walk_target(node->a, frame);
        if (node->b != nullptr) walk(node->b, within);
        break;
      case Kind::kWith:
        for (Node* to : node->items) walk_target(to, within);
        walk_all(node->rest, frame);
        break;
      case Kind::kAutoescape:
        walk(node->a, within);
        if (node->a->kind != Kind::kConst)
          within.escape |= kVolatile;
        else
          within.escape = static_cast<uint8_t>(
              (within.escape & kVolatile) | (node->a->value.is(Type::kBool) && node->a->value.boolean ? kEscape : 0));
        break;
      default:
        walk(node->a, within);
    }
    walk_all(node->body, within);
  }

  Node* copy_target(const Node* node) {
    Node* made = arena_.create<Node>();
    if (made == nullptr) return nullptr;
    *made = *node;
    if (node->kind != Kind::kTuple) return made;
    made->items.items = arena_.create<Node*>(node->items.n);
    if (made->items.items == nullptr) return nullptr;
    for (uint32_t i = 0; i < node->items.n; ++i)
      if ((made->items.items[i] = copy_target(node->items.items[i])) == nullptr) return nullptr;
    return made;
  }
  static bool has_scoped_block(const Node& node) {
    bool found = node.kind == Kind::kBlock && (node.flags & kScoped) != 0;
    each_child(node, [&](const Node* child, Use) { found = found || has_scoped_block(*child); });
    return found;
  }
  void refuse_loop_targets(const Node* node, Use use) {
    if (node->kind == Kind::kName && use == Use::kStore && node->text->view() == "loop")
      fail(node, {"cannot assign to loop within a loop"});
    each_child(*node,
               [&](const Node* child, Use its) { refuse_loop_targets(child, node->kind == Kind::kTuple ? use : its); });
  }

  void walk_for(Node* node, const Frame& frame) {
    const bool recursive = (node->flags & kRecursive) != 0;
    FunctionBuild* const outer = frame.symbols->function;
    FunctionBuild* const function = recursive ? new_function(outer) : outer;
    Symbols* loop = new_symbols(frame.symbols, function);
    Symbols* rest = new_symbols(frame.symbols, function);
    if (recursive || !Undeclared::of(node->body, {"loop"}).empty() || has_scoped_block(*node)) {
      node->flags |= kUsesLoop;
      node->loop = special(loop, "loop");
    }
    if (recursive) node->layout = function->layout;
    collect_target(node->a, *loop, Use::kParameter);
    for (Node* child : node->body) collect(child, *loop);
    for (Node* child : node->rest) collect(child, *rest);
    node->scope = scope_of(*loop);
    node->scope2 = scope_of(*rest);
    refuse_loop_targets(node, Use::kRead);
    walk_target(node->a, {.symbols = loop});
    if (node->c != nullptr) walk_condition(node, frame);
    walk(node->b, frame);
    walk_all(node->body, {.symbols = loop, .in_loop = true, .escape = frame.escape});
    walk_all(node->rest, {.symbols = rest, .in_loop = frame.in_loop && !recursive, .escape = frame.escape});
  }
  void walk_condition(Node* node, const Frame& frame) {
    FunctionBuild* function = new_function(frame.symbols->function);
    Symbols* symbols = new_symbols(frame.symbols, function);
    node->test_layout = function->layout;
    node->d = copy_target(node->a);
    if (node->d == nullptr) return fail(node, {"it takes too much memory"}, Problem::Code::kLimit);
    collect_target(node->d, *symbols, Use::kParameter);
    collect(node->c, *symbols);
    node->test_scope = scope_of(*symbols);
    walk_target(node->d, {.symbols = symbols});
    walk(node->c, {.symbols = symbols, .escape = frame.escape});
  }

  void walk_macro(Node* node, const Frame& frame) {
    FunctionBuild* function = new_function(frame.symbols->function);
    Symbols* symbols = new_symbols(frame.symbols, function);
    node->layout = function->layout;
    for (Node* parameter : node->items) symbols->parameter(parameter->text);
    uint32_t explicit_caller = UINT32_MAX;
    bool own_kwargs = false, own_varargs = false;
    for (uint32_t i = 0; i < node->items.n; ++i) {
      const std::string_view name = node->items.items[i]->text->view();
      if (name == "caller") explicit_caller = i;
      own_kwargs = own_kwargs || name == "kwargs";
      own_varargs = own_varargs || name == "varargs";
    }
    for (const std::string_view name : Undeclared::of(node->body, {"caller", "kwargs", "varargs"})) {
      if (name == "caller" && explicit_caller != UINT32_MAX) {
        if (explicit_caller + node->rest.n < node->items.n)
          return fail(node, {"the parameter caller must be left out, or have a default"});
      } else if (name == "caller") {
        node->caller = special(symbols, name);
      } else if (name == "kwargs" && !own_kwargs) {
        node->kwargs = special(symbols, name);
      } else if (name == "varargs" && !own_varargs) {
        node->varargs = special(symbols, name);
      }
    }
    for (Node* value : node->rest) collect(value, *symbols);
    for (Node* child : node->body) collect(child, *symbols);
    node->scope = scope_of(*symbols);
    const Frame within = {.symbols = symbols, .escape = frame.escape};
    for (Node* parameter : node->items) walk_name(parameter, within);
    walk_all(node->rest, within);
    walk_all(node->body, within);
  }

  void walk_block(Node* node) {
    FunctionBuild* function = new_function(nullptr);
    Symbols* symbols = new_symbols(nullptr, function);
    node->layout = function->layout;
    for (const std::string_view name : Undeclared::of(node->body, {"self", "super"}))
      (name == "self" ? node->self : node->super) = special(symbols, name);
    for (Node* child : node->body) collect(child, *symbols);
    node->scope = scope_of(*symbols);
    walk_all(node->body, {.symbols = symbols});
  }

  // The outer variables that a scoped block can read: one load for each name, the innermost first.
  Scope visible(const Frame& frame) {
    std::vector<Load> loads;
    for (Symbols* s = frame.symbols; s != nullptr; s = s->parent) {
      for (const std::string_view name : s->stores) {
        if (std::any_of(loads.begin(), loads.end(), [&](const Load& load) { return load.name->view() == name; }))
          continue;
        Symbols* owner = frame.symbols->owner(name);
        loads.push_back({.name = owner->own(name)->name, .from = place(*frame.symbols, owner, name)});
      }
    }
    Load* kept = arena_.create<Load>(loads.size());
    if (kept == nullptr) return {};
    std::copy(loads.begin(), loads.end(), kept);
    return {kept, static_cast<uint32_t>(loads.size())};
  }

  Arena& arena_;
  Program& program_;
  Problem& problem_;
  FunctionLayout spare_;
  std::vector<std::unique_ptr<FunctionBuild>> functions_;
  std::vector<std::unique_ptr<Symbols>> symbols_;
};

}  // namespace

bool analyze(Arena& arena, Program& program, Problem& problem) { return Analyzer(arena, program, problem).run(); }

}  // namespace ggufscope::jinja
