// Binds C++ classes to JavaScript as functions that take the object's address. Embind's own classes would make the glue
// a third larger. The package builds classes from functions named CLASS_METHOD (src/runtime/module.ts).
#pragma once

#include <cstdint>

namespace ggufscope {
namespace detail {

template <class Object, class F>
struct Caller;
template <class Object, class R, class... Args>
struct Caller<Object, R (Object::*)(Args...)> {
  template <auto F>
  static R call(uintptr_t object, Args... args) {
    return (reinterpret_cast<Object*>(object)->*F)(args...);
  }
};
template <class Object, class R, class... Args>
struct Caller<Object, R (Object::*)(Args...) const> {
  template <auto F>
  static R call(uintptr_t object, Args... args) {
    return (reinterpret_cast<const Object*>(object)->*F)(args...);
  }
};
template <class Object, class Self, class R, class... Args>
struct Caller<Object, R (*)(Self&, Args...)> {
  template <auto F>
  static R call(uintptr_t object, Args... args) {
    return F(*reinterpret_cast<Object*>(object), args...);
  }
};

}  // namespace detail

/// Wraps a member function, or a function whose first argument is the object.
template <class Object, auto F>
inline constexpr auto method = &detail::Caller<Object, decltype(F)>::template call<F>;

template <class Object>
uintptr_t make() {
  return reinterpret_cast<uintptr_t>(new Object());
}

template <class Object>
void remove(uintptr_t object) {
  delete reinterpret_cast<Object*>(object);
}

}  // namespace ggufscope
