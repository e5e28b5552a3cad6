// Values whose types only the headers of single parts of a model know, such as the weights of a token mixer.
#pragma once

#include <memory>
#include <vector>

namespace ggufscope {

/// Owns one value, or none.
class ModelPart {
 public:
  template <class T>
  T& create() {
    type_ = &type_of<T>;
    value_ = {new T, [](void* p) { delete static_cast<T*>(p); }};
    return *static_cast<T*>(value_.get());
  }
  template <class T>
  [[nodiscard]] bool holds() const {
    return type_ == &type_of<T>;
  }
  /// T is the type that was created. Another one is a bug, never caused by input.
  template <class T>
  [[nodiscard]] T& get() const {
    if (!holds<T>()) __builtin_trap();
    return *static_cast<T*>(value_.get());
  }
  explicit operator bool() const { return value_ != nullptr; }

 private:
  template <class T>
  static inline char type_of = 0;  // its address stands for T

  const char* type_ = nullptr;
  std::unique_ptr<void, void (*)(void*)> value_{nullptr, [](void*) {}};
};

/// Owns values of several types, at most one of each.
class ModelParts {
 public:
  /// A value with all defaults if it was not created. A call, not inlined: it is in many places, none of them hot.
  template <class T>
  [[nodiscard, gnu::noinline]] const T& get() const {
    static const T kDefaults{};
    const T* value = find<T>();
    return value != nullptr ? *value : kDefaults;
  }
  /// Creates the value if there is none.
  template <class T>
  T& edit() {
    T* value = find<T>();
    return value != nullptr ? *value : parts_.emplace_back().template create<T>();
  }

 private:
  template <class T>
  [[nodiscard]] T* find() const {
    for (const ModelPart& part : parts_)
      if (part.holds<T>()) return &part.get<T>();
    return nullptr;
  }
  std::vector<ModelPart> parts_;
};

}  // namespace ggufscope
