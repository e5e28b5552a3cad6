// The symbol tables of the scope analysis (scope.cpp), modelled on jinja2.idtracking.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "jinja/ast.hpp"

namespace ggufscope::jinja {

// A level and a name identify one variable of a function. All scopes of that level share it.
struct Slot {
  uint32_t level;
  std::string_view name;
};
struct FunctionBuild {
  FunctionBuild* outer = nullptr;
  FunctionLayout* layout = nullptr;
  std::vector<Slot> slots;

  uint32_t slot(uint32_t level, std::string_view name) {
    for (uint32_t i = 0; i < slots.size(); ++i)
      if (slots[i].level == level && slots[i].name == name) return i;
    slots.push_back({level, name});
    layout->n_slots = static_cast<uint32_t>(slots.size());
    return layout->n_slots - 1;
  }
};

enum class Use : uint8_t { kRead, kStore, kParameter };

struct Symbols {
  Symbols* parent = nullptr;
  FunctionBuild* function = nullptr;
  uint32_t level = 0;
  struct Known {
    const Str* name;
    Load::Kind load;
    const Symbols* from;  // kAlias: the scope whose variable it is
  };
  std::vector<Known> known;
  std::vector<std::string_view> stores;

  Known* own(std::string_view name) {
    for (Known& one : known)
      if (one.name->view() == name) return &one;
    return nullptr;
  }
  Symbols* owner(std::string_view name) {
    for (Symbols* s = this; s != nullptr; s = s->parent)
      if (s->own(name) != nullptr) return s;
    return nullptr;
  }
  void define(const Str* name, Load::Kind load, const Symbols* from = nullptr) {
    if (Known* one = own(name->view()))
      *one = {name, load, from};
    else
      known.push_back({name, load, from});
  }
  void note_store(std::string_view name) {
    if (std::find(stores.begin(), stores.end(), name) == stores.end()) stores.push_back(name);
  }
  void parameter(const Str* name) {
    note_store(name->view());
    define(name, Load::Kind::kParameter);
  }
  void store(const Str* name) {
    note_store(name->view());
    if (own(name->view()) != nullptr) return;
    const Symbols* outer = parent != nullptr ? parent->owner(name->view()) : nullptr;
    define(name, outer != nullptr ? Load::Kind::kAlias : Load::Kind::kUndefined, outer);
  }
  void load(const Str* name) {
    if (owner(name->view()) == nullptr) define(name, Load::Kind::kResolve);
  }
  /// A variable that only some branches of an if set starts with its outer value.
  void merge(std::initializer_list<const Symbols*> branches) {
    std::vector<std::string_view> set_somewhere;
    for (const Symbols* branch : branches)
      for (const std::string_view name : branch->stores)
        if (std::find(stores.begin(), stores.end(), name) == stores.end()) set_somewhere.push_back(name);
    for (const Symbols* branch : branches) {
      for (const Known& one : branch->known) define(one.name, one.load, one.from);
      for (const std::string_view name : branch->stores) note_store(name);
    }
    for (const std::string_view name : set_somewhere) {
      const Symbols* outer = parent != nullptr ? parent->owner(name) : nullptr;
      define(own(name)->name, outer != nullptr ? Load::Kind::kAlias : Load::Kind::kResolve, outer);
    }
  }
};

// Calls visit(child, use) for the children of a node, in the order of Jinja2's fields.
template <class Visit>
void each_child(const Node& node, const Visit& visit) {
  const auto one = [&](Node* child, Use use = Use::kRead) {
    if (child != nullptr) visit(child, use);
  };
  const auto many = [&](const Nodes& children, Use use = Use::kRead) {
    for (Node* child : children) visit(child, use);
  };
  switch (node.kind) {
    case Kind::kFor:
      one(node.a, Use::kStore), one(node.b), many(node.body), many(node.rest), one(node.c);
      return;
    case Kind::kIf:
      one(node.a), many(node.body), many(node.items), many(node.rest);
      return;
    case Kind::kMacro:
    case Kind::kCallBlock:
      one(node.a), many(node.items, Use::kParameter), many(node.rest), many(node.body);
      return;
    case Kind::kFilterBlock:
      many(node.body), one(node.a);
      return;
    case Kind::kSet:
    case Kind::kSetBlock:
      one(node.a, Use::kStore), one(node.b), many(node.body);
      return;
    case Kind::kWith:
      many(node.items, Use::kParameter), many(node.rest), many(node.body);
      return;
    case Kind::kImport:
      one(node.a);
      return;
    default:
      one(node.a), one(node.b), one(node.c), many(node.items), many(node.body), many(node.rest);
  }
  if (node.call == nullptr) return;
  many(node.call->args);
  for (uint32_t i = 0; i < node.call->n_keywords; ++i) one(node.call->keywords[i].value);
  one(node.call->more_args), one(node.call->more_keywords);
}

// Finds which of a few names are read before they are set.
struct Undeclared {
  std::vector<std::string_view> names, found;

  static bool contains(const std::vector<std::string_view>& in, std::string_view name) {
    return std::find(in.begin(), in.end(), name) != in.end();
  }
  /// Returns true when all are found.
  bool visit(const Node& node, Use use) {
    if (node.kind == Kind::kBlock) return false;
    if (node.kind == Kind::kName) {
      if (use == Use::kRead && contains(names, node.text->view())) {
        if (!contains(found, node.text->view())) found.push_back(node.text->view());
        return found.size() == names.size() &&
               std::all_of(found.begin(), found.end(), [&](auto n) { return contains(names, n); });
      }
      std::erase(names, node.text->view());
      return false;
    }
    bool done = false;
    each_child(
        node, [&](const Node* child, Use its) { done = done || visit(*child, node.kind == Kind::kTuple ? use : its); });
    return done;
  }
  static std::vector<std::string_view> of(const Nodes& nodes, std::vector<std::string_view> wanted) {
    Undeclared search{std::move(wanted), {}};
    for (const Node* node : nodes)
      if (search.visit(*node, Use::kRead)) break;
    return search.found;
  }
};

}  // namespace ggufscope::jinja
