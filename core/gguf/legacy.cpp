// Parses the headers of ggml, ggmf and ggjt files.
#include "gguf/legacy.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "base/sentence.hpp"
#include "gguf/ftype.hpp"
#include "gguf/parse.hpp"
#include "gguf/write.hpp"

namespace ggufscope {

// The items of a layout's preamble, in order.
enum class Item : uint8_t {
  kWord,    // a u32
  kFloats,  // a count, then floats
  kGrid,    // two counts, then floats
  kWords,   // u32s; an earlier u32 is their count
  kTokens,  // the vocabulary; its length comes first or is an earlier u32
};

constexpr int kOwnCount = -1;

struct Step {
  Item item;
  std::string_view key;
  int count = kOwnCount;  // index of the u32 that holds the count
};

struct LegacyLayout {
  std::string_view container;  // the container's magic
  uint32_t first_version, last_version;
  std::string_view architecture;
  std::span<const Step> steps;
  // u32s (counted from the magic or version) with fixed values in files of this layout. They distinguish layouts that
  // all have the magic "ggml".
  struct {
    uint8_t a, b;
  } same[2];
  int file_type = -1;  // index of the u32 that holds it
  bool scores = false;
  uint32_t alignment = 1;
};

namespace {

constexpr uint64_t kMaxTokens = 1 << 22;
constexpr uint64_t kMaxTokenBytes = 1 << 16;
constexpr uint64_t kMaxFloats = 1 << 24;
constexpr uint64_t kMaxTensors = 1 << 16;
constexpr uint64_t kMaxNameBytes = 1 << 12;
constexpr uint64_t kProbeWords = 17;
constexpr uint32_t kFileTypeFactor = 1000;  // file_type = 1000 * version of the block layouts + type

// clang-format off
constexpr Step kLlama[] = {
    {Item::kWord, "llama.vocab_size"}, {Item::kWord, "llama.embedding_length"}, {Item::kWord, "legacy.n_mult"},
    {Item::kWord, "llama.attention.head_count"}, {Item::kWord, "llama.block_count"},
    {Item::kWord, "llama.rope.dimension_count"}, {Item::kWord, "general.file_type"}, {Item::kTokens, {}, 0},
};
constexpr Step kRwkv[] = {
    {Item::kWord, "rwkv.vocab_size"}, {Item::kWord, "rwkv.embedding_length"}, {Item::kWord, "rwkv.block_count"},
    {Item::kWord, "general.file_type"},
};
constexpr Step kWhisper[] = {
    {Item::kWord, "whisper.vocab_size"}, {Item::kWord, "whisper.encoder.context_length"},
    {Item::kWord, "whisper.encoder.embedding_length"}, {Item::kWord, "whisper.encoder.attention.head_count"},
    {Item::kWord, "whisper.encoder.block_count"}, {Item::kWord, "whisper.decoder.context_length"},
    {Item::kWord, "whisper.decoder.embedding_length"}, {Item::kWord, "whisper.decoder.attention.head_count"},
    {Item::kWord, "whisper.decoder.block_count"}, {Item::kWord, "whisper.encoder.mels_count"},
    {Item::kWord, "general.file_type"}, {Item::kGrid, "whisper.mel_filters"}, {Item::kTokens, {}},
};
constexpr Step kParakeet[] = {
    {Item::kWord, "parakeet.vocab_size"}, {Item::kWord, "parakeet.encoder.context_length"},
    {Item::kWord, "parakeet.encoder.embedding_length"}, {Item::kWord, "parakeet.encoder.attention.head_count"},
    {Item::kWord, "parakeet.encoder.block_count"}, {Item::kWord, "parakeet.encoder.mels_count"},
    {Item::kWord, "general.file_type"}, {Item::kWord, "parakeet.fft_length"},
    {Item::kWord, "parakeet.subsampling_factor"}, {Item::kWord, "parakeet.subsampling_channels"},
    {Item::kWord, "parakeet.conv_kernel"}, {Item::kWord, "parakeet.predictor.embedding_length"},
    {Item::kWord, "parakeet.predictor.block_count"}, {Item::kWord, "parakeet.durations_count"},
    {Item::kWord, "parakeet.max_tokens"}, {Item::kGrid, "parakeet.mel_filters"},
    {Item::kFloats, "parakeet.window"}, {Item::kWords, "parakeet.durations", 13}, {Item::kTokens, {}},
};
constexpr Step kGpt2[] = {
    {Item::kWord, "gpt2.vocab_size"}, {Item::kWord, "gpt2.context_length"}, {Item::kWord, "gpt2.embedding_length"},
    {Item::kWord, "gpt2.attention.head_count"}, {Item::kWord, "gpt2.block_count"}, {Item::kWord, "general.file_type"},
    {Item::kTokens, {}},
};
constexpr Step kGptJ[] = {
    {Item::kWord, "gptj.vocab_size"}, {Item::kWord, "gptj.context_length"}, {Item::kWord, "gptj.embedding_length"},
    {Item::kWord, "gptj.attention.head_count"}, {Item::kWord, "gptj.block_count"},
    {Item::kWord, "gptj.rope.dimension_count"}, {Item::kWord, "general.file_type"}, {Item::kTokens, {}},
};
constexpr Step kLora[] = {{Item::kWord, "adapter.lora.rank"}, {Item::kWord, "adapter.lora.alpha"}};

// The first layout that fits is taken. llama has no distinguishing values, so it is last within its container.
constexpr LegacyLayout kLayouts[] = {
    {"ggml", 0, 0, "whisper", kWhisper, {{2, 6}, {9, 11}}, 10},
    {"ggml", 0, 0, "parakeet", kParakeet, {{5, 15}, {5, 15}}, 6},
    {"ggml", 0, 0, "gpt2", kGpt2, {{0, 6}, {0, 6}}, 5},
    {"ggml", 0, 0, "gptj", kGptJ, {{0, 7}, {0, 7}}, 6},
    {"ggml", 0, 0, "llama", kLlama, {}, 6},
    {"ggmf", 1, 1, "llama", kLlama, {}, 6, true},
    {"ggmf", 100, 101, "rwkv", kRwkv, {}, 3},
    {"ggjt", 1, 3, "llama", kLlama, {}, 6, true, 32},
    {"ggla", 1, 1, "llama", kLora, {}, -1, false, 32},
};
// clang-format on

constexpr uint8_t kNoType = 255;
/// rwkv.cpp's type numbers, for tensors and files.
constexpr uint8_t kRwkvTypes[] = {0, 1, 2, 3, kNoType, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
/// Types for the file types of programs that use only ggml (ggml_ftype). llama.cpp's numbers differ from 11 on.
constexpr uint8_t kGgmlFileTypes[] = {0,  1,  2,  3,  3,  kNoType, kNoType, 8,  6,  7,  10, 11, 12,
                                      13, 14, 16, 17, 18, 19,      20,      21, 22, 23, 29, 30};

/// The ggml type of a tensor: maps llama.cpp's ids or rwkv.cpp's numbers, then applies the version of the block
/// layouts.
std::optional<uint32_t> tensor_type(const LegacyState& state, uint32_t code) {
  const LegacyLayout& layout = *state.layout;
  if (code >= all_types().size()) return std::nullopt;
  if (layout.steps.data() == kRwkv) {
    if (code >= std::size(kRwkvTypes) || kRwkvTypes[code] == kNoType) return std::nullopt;
    code = kRwkvTypes[code];
  }
  uint32_t era = 2;
  if (layout.container == "ggml") era = state.words[static_cast<size_t>(layout.file_type)] / kFileTypeFactor;
  if (layout.container == "ggmf") era = state.version == 101 ? 2 : 0;
  if (layout.container == "ggjt") era = state.version - 1;
  return legacy_type(code, era);
}

/// general.file_type in llama.cpp's numbers, or nothing if it has no equivalent.
std::optional<uint32_t> file_type(const LegacyState& state, uint32_t code) {
  const LegacyLayout& layout = *state.layout;
  code %= kFileTypeFactor;
  if (layout.steps.data() == kLlama) return code;
  std::span<const uint8_t> types = kGgmlFileTypes;
  if (layout.steps.data() == kRwkv) types = kRwkvTypes;
  if (code >= types.size() || types[code] == kNoType) return std::nullopt;
  const FileType* row = file_type_of(types[code]);
  return row != nullptr ? std::optional(row->id) : std::nullopt;
}

LegacyValue scalar(std::string key, uint32_t value) {
  LegacyValue out{std::move(key), ValueType::kU32, ValueType::kU32, 1, std::vector<uint8_t>(4)};
  store(out.bytes.data(), value);
  return out;
}

LegacyValue text(std::string key, std::string_view value) {
  return {std::move(key), ValueType::kString, ValueType::kString, 1, {value.begin(), value.end()}};
}

template <class T>
void append(std::vector<uint8_t>& out, T value) {
  out.resize(out.size() + sizeof(T));
  store(out.data() + out.size() - sizeof(T), value);
}

class Reader {
 public:
  Reader(ByteView bytes, uint64_t file_size, LegacyState& state)
      : bytes_(bytes), file_size_(file_size), state_(state) {}

  Result<LegacyProgress> run() {
    if ((state_.layout != nullptr || recognise()) && preamble() && tensors()) return LegacyProgress{true, 0};
    return stop_;
  }

 private:
  bool stop(ErrorCode code, uint64_t offset, std::string_view what, std::string_view context) {
    stop_ = fail(code, offset, what, context);
    return false;
  }

  /// Checks for n bytes at the position. The position moves only after a whole entry is read.
  bool need(uint64_t n, std::string_view context) {
    if (n <= bytes_.size()) return true;
    if (n > file_size_ - state_.position) return stop(ErrorCode::kTruncated, file_size_, "truncated", context);
    stop_ = LegacyProgress{false, n};
    return false;
  }

  [[nodiscard]] uint32_t word(uint64_t at) const { return load<uint32_t>(bytes_.data() + at); }

  void take(uint64_t n) {
    bytes_ = bytes_.subspan(static_cast<size_t>(n));
    state_.position += n;
  }

  bool recognise() {
    if (!need(std::min(file_size_, 4 * (1 + kProbeWords)), "magic") || !need(8, "magic and version")) return false;
    const char magic[] = {static_cast<char>(bytes_[3]), static_cast<char>(bytes_[2]), static_cast<char>(bytes_[1]),
                          static_cast<char>(bytes_[0])};
    const std::string_view container(magic, 4);
    const uint64_t n_words = bytes_.size() / 4 - 1;
    bool known = false;
    for (const LegacyLayout& layout : kLayouts) {
      if (layout.container != container) continue;
      known = true;
      const bool versioned = layout.last_version != 0;
      if (versioned && (word(4) < layout.first_version || word(4) > layout.last_version)) continue;
      const bool fits = std::ranges::all_of(layout.same, [&](auto pair) {
        return std::max(pair.a, pair.b) < n_words && word(4 + 4 * uint64_t{pair.a}) == word(4 + 4 * uint64_t{pair.b});
      });
      if (!fits || !plausible(layout)) continue;
      state_.layout = &layout;
      state_.version = versioned ? word(4) : 0;
      take(versioned ? 8 : 4);
      return true;
    }
    if (known && container != "ggml") {
      return stop(ErrorCode::kBadVersion, 4, "unknown version " + std::to_string(word(4)), "a container before GGUF");
    }
    return stop(ErrorCode::kUnsupported, 0, "a GGML file of an unknown kind", "magic");
  }

  /// Checks that the numbers are plausible. A container without a version has no other protection against random bytes.
  [[nodiscard]] bool plausible(const LegacyLayout& layout) const {
    if (layout.last_version != 0) return true;
    const uint64_t at = 4 + 4 * static_cast<uint64_t>(layout.file_type);
    return bytes_.size() >= at + 8 && word(4) > 0 && word(4) <= kMaxTokens && word(at) < 3 * kFileTypeFactor &&
           word(at) % kFileTypeFactor < 64;
  }

  bool preamble() {
    for (; state_.step < state_.layout->steps.size(); ++state_.step) {
      const Step& step = state_.layout->steps[state_.step];
      switch (step.item) {
        case Item::kWord:
          if (!need(4, step.key)) return false;
          state_.words.push_back(word(0));
          state_.values.push_back(scalar(std::string(step.key), word(0)));
          take(4);
          break;
        case Item::kFloats:
        case Item::kGrid:
          if (!floats(step)) return false;
          break;
        case Item::kWords: {
          const uint64_t n = state_.words[static_cast<size_t>(step.count)];
          if (n > kMaxFloats) return stop(ErrorCode::kBadCount, state_.position, "impossible count", step.key);
          if (!need(4 * n, step.key)) return false;
          add_array(std::string(step.key), ValueType::kU32, n, 0);
          break;
        }
        case Item::kTokens:
          if (!vocabulary(step)) return false;
          break;
      }
    }
    return true;
  }

  /// Adds an array of n 4-byte numbers that starts `skip` bytes after the position.
  void add_array(std::string key, ValueType type, uint64_t n, uint64_t skip) {
    const ByteView view = bytes_.subspan(static_cast<size_t>(skip), static_cast<size_t>(4 * n));
    state_.values.push_back({std::move(key), ValueType::kArray, type, n, {view.begin(), view.end()}});
    take(skip + 4 * n);
  }

  bool floats(const Step& step) {
    const uint64_t n_counts = step.item == Item::kGrid ? 2 : 1;
    if (!need(4 * n_counts, step.key)) return false;
    const uint64_t rows = word(0), columns = n_counts == 2 ? word(4) : 1;  // both are below 2^32, so the product fits
    if (rows * columns > kMaxFloats) return stop(ErrorCode::kBadCount, state_.position, "impossible count", step.key);
    if (!need(4 * (n_counts + rows * columns), step.key)) return false;
    if (n_counts == 2) {
      state_.values.push_back(scalar(std::string(step.key) + ".rows", static_cast<uint32_t>(rows)));
      state_.values.push_back(scalar(std::string(step.key) + ".columns", static_cast<uint32_t>(columns)));
    }
    add_array(std::string(step.key), ValueType::kF32, rows * columns, 4 * n_counts);
    return true;
  }

  bool vocabulary(const Step& step) {
    const bool scored = state_.layout->scores;
    if (!state_.in_vocabulary) {
      const uint64_t at = state_.position;
      uint64_t n = 0;
      if (step.count == kOwnCount) {
        if (!need(4, "vocabulary size")) return false;
        n = word(0);
      } else {
        n = state_.words[static_cast<size_t>(step.count)];
      }
      const uint64_t min = scored ? 8 : 4;
      if (n > kMaxTokens || n * min > file_size_ - at)
        return stop(ErrorCode::kBadCount, at, "impossible count " + std::to_string(n), "vocabulary size");
      if (step.count == kOwnCount) take(4);
      state_.in_vocabulary = true;
      state_.tokens_left = n;
      const LegacyValue none{{}, ValueType::kArray, ValueType::kString, n, {}};
      state_.values.push_back(none);
      state_.values.back().key = "tokenizer.ggml.tokens";
      state_.values.push_back({"tokenizer.ggml.scores", ValueType::kArray, ValueType::kF32, n, {}});
    }
    std::vector<uint8_t>& tokens = state_.values[state_.values.size() - 2].bytes;
    std::vector<uint8_t>& scores = state_.values.back().bytes;
    for (; state_.tokens_left > 0; --state_.tokens_left) {
      if (!need(4, "token")) return false;
      const uint64_t n = word(0);
      if (n > kMaxTokenBytes) return stop(ErrorCode::kBadLength, state_.position, "a length over 64 KiB", "token");
      const uint64_t whole = 4 + n + (scored ? 4 : 0);
      if (!need(whole, "token")) return false;
      append(tokens, n);
      const ByteView token = bytes_.subspan(4, static_cast<size_t>(n));
      tokens.insert(tokens.end(), token.begin(), token.end());
      if (scored) append(scores, word(4 + n));
      take(whole);
    }
    state_.in_vocabulary = false;
    if (!scored) state_.values.pop_back();
    return true;
  }

  bool tensors() {
    while (state_.position < file_size_) {
      const std::string context = sentence({"tensor ", state_.tensors.size()});
      if (state_.tensors.size() == kMaxTensors)
        return stop(ErrorCode::kBadCount, state_.position, "more than 2^16 tensors", context);
      if (!tensor(context)) return false;
    }
    return true;
  }

  /// context: the tensor's number, until its name is read.
  bool tensor(std::string context) {
    const uint64_t at = state_.position;
    if (!need(12, context)) return false;
    LegacyTensor tensor;
    tensor.n_dims = word(0);
    const uint64_t name_bytes = word(4);
    const uint32_t code = word(8);
    if (tensor.n_dims > 4) return stop(ErrorCode::kBadShape, at, "more than 4 dimensions", context);
    if (name_bytes > kMaxNameBytes) return stop(ErrorCode::kBadLength, at + 4, "a name over 4 KiB", context);
    const std::optional<uint32_t> type = tensor_type(state_, code);
    const TypeGeometry* geometry = type ? find_type(*type) : nullptr;
    if (geometry == nullptr || geometry->block_size == 0)
      return stop(ErrorCode::kUnsupported, at + 8, "unknown type " + std::to_string(code), context);
    const uint64_t head = 12 + 4 * uint64_t{tensor.n_dims} + name_bytes;
    if (!need(head, context)) return false;

    tensor.name.assign(reinterpret_cast<const char*>(bytes_.data()) + (head - name_bytes),
                       static_cast<size_t>(name_bytes));
    context = sentence({"tensor ", Quoted{tensor.name}});
    tensor.type = *type;
    tensor.shape.fill(1);
    uint64_t elements = 1;
    for (uint32_t i = 0; i < tensor.n_dims; ++i) {
      const uint64_t n = tensor.shape[i] = word(12 + 4 * uint64_t{i});
      if (n == 0 || n > INT32_MAX)
        return stop(ErrorCode::kBadShape, at + 12 + 4 * uint64_t{i}, "an impossible dimension", context);
      if (__builtin_mul_overflow(elements, n, &elements)) return stop(ErrorCode::kOverflow, at, "overflow", context);
    }
    if (tensor.shape[0] % geometry->block_size != 0)
      return stop(ErrorCode::kBadShape, at + 12, "a row that is not whole blocks", context);
    if (__builtin_mul_overflow(elements / geometry->block_size, uint64_t{geometry->block_bytes}, &tensor.n_bytes))
      return stop(ErrorCode::kOverflow, at, "overflow", context);
    const uint64_t offset = align_up(at + head, state_.layout->alignment);
    if (offset > file_size_ || tensor.n_bytes > file_size_ - offset)
      return stop(ErrorCode::kTruncated, file_size_, "truncated", "the data of " + context);
    tensor.offset = offset;

    const uint64_t end = offset + tensor.n_bytes;
    const uint64_t skip = std::min<uint64_t>(end - at, bytes_.size());
    bytes_ = bytes_.subspan(static_cast<size_t>(skip));
    state_.position = end;
    state_.tensors.push_back(std::move(tensor));
    return true;
  }

  ByteView bytes_;  // from state_.position on
  uint64_t file_size_;
  LegacyState& state_;
  Result<LegacyProgress> stop_ = LegacyProgress{};
};

bool has_tensor(const LegacyState& state, std::string_view name) {
  return std::ranges::any_of(state.tensors, [&](const LegacyTensor& tensor) { return tensor.name == name; });
}

std::string architecture_of(const LegacyState& state) {
  if (state.layout->steps.data() != kRwkv) return std::string(state.layout->architecture);
  if (has_tensor(state, "blocks.0.att.r_k")) return "rwkv7";
  if (has_tensor(state, "blocks.0.att.time_maa_x") || has_tensor(state, "blocks.0.att.time_maa_w1")) return "rwkv6";
  return has_tensor(state, "blocks.0.att.ln_x.weight") ? "rwkv5" : "rwkv4";
}

/// Converts tokens as llama.cpp's converter does: a space becomes U+2581, and tokens 3 to 258, the single bytes, become
/// <0xXX>.
void convert_llama_tokens(const LegacyValue& tokens, std::vector<LegacyValue>& out) {
  enum : uint32_t { kNormal = 1, kUnknown = 2, kControl = 3, kByte = 6 };
  constexpr std::string_view kHex = "0123456789ABCDEF";
  LegacyValue texts{tokens.key, ValueType::kArray, ValueType::kString, tokens.count, {}};
  LegacyValue types{"tokenizer.ggml.token_type", ValueType::kArray, ValueType::kI32, tokens.count, {}};
  const uint8_t* p = tokens.bytes.data();
  for (uint64_t i = 0; i < tokens.count; ++i) {
    const uint64_t n = load<uint64_t>(p);
    std::string_view token(reinterpret_cast<const char*>(p) + 8, static_cast<size_t>(n));
    p += 8 + n;
    std::string converted;
    uint32_t type = i == 0 ? kUnknown : i < 3 || n == 0 ? kControl : kNormal;
    if (i >= 3 && i < 259 && n == 1) {
      const uint8_t byte = static_cast<uint8_t>(token[0]);
      converted = std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + '>';
      type = kByte;
    } else {
      if (type == kNormal && n == 6 && token.starts_with("<0x")) type = kByte;
      for (const char c : token) {
        if (c == ' ')
          converted += "\xe2\x96\x81";
        else
          converted += c;
      }
    }
    append(texts.bytes, uint64_t{converted.size()});
    texts.bytes.insert(texts.bytes.end(), converted.begin(), converted.end());
    append(types.bytes, type);
  }
  out.push_back(std::move(texts));
  out.push_back(std::move(types));
}

/// The file's values together with those that a converter adds.
std::vector<LegacyValue> all_values(const LegacyState& state) {
  const LegacyLayout& layout = *state.layout;
  const bool lora = layout.steps.data() == kLora, llama = layout.steps.data() == kLlama;
  const std::string architecture = architecture_of(state);
  std::vector<LegacyValue> out;
  out.push_back(text("general.architecture", architecture));
  out.push_back(text("general.type", lora ? "adapter" : "model"));
  if (lora) out.push_back(text("adapter.type", "lora"));
  out.push_back(text("legacy.container", layout.container));
  if (layout.last_version != 0) out.push_back(scalar("legacy.version", state.version));
  for (const LegacyValue& value : state.values) {
    if (value.key == "tokenizer.ggml.tokens" && llama) {
      out.push_back(text("tokenizer.ggml.model", "llama"));
      convert_llama_tokens(value, out);
    } else if (value.key == "general.file_type") {
      if (const auto id = file_type(state, load<uint32_t>(value.bytes.data()))) out.push_back(scalar(value.key, *id));
    } else {
      out.push_back(value);
      // rwkv4 to rwkv7 each have their own key prefix.
      if (layout.steps.data() == kRwkv) out.back().key.replace(0, 4, architecture);
    }
  }
  if (llama && state.words[0] > 2) {
    out.push_back(scalar("tokenizer.ggml.bos_token_id", 1));
    out.push_back(scalar("tokenizer.ggml.eos_token_id", 2));
    out.push_back(scalar("tokenizer.ggml.unknown_token_id", 0));
  }
  if (llama && state.words[1] != 0 && state.words[2] != 0) {
    const uint64_t wanted = uint64_t{2} * (4 * uint64_t{state.words[1]}) / 3;
    const uint64_t length = align_up(wanted, state.words[2]);
    if (length <= UINT32_MAX) out.push_back(scalar("llama.feed_forward_length", static_cast<uint32_t>(length)));
  }
  return out;
}

}  // namespace

Result<LegacyProgress> read_legacy(ByteView bytes, uint64_t file_size, LegacyState& state) {
  return Reader(bytes, file_size, state).run();
}

Result<LegacyHeader> legacy_header(const LegacyState& state) {
  const std::vector<LegacyValue> values = all_values(state);
  std::vector<WriteKeyValue> key_values;
  key_values.reserve(values.size());
  for (const LegacyValue& value : values)
    key_values.push_back({value.key, value.type, value.element_type, value.count, value.bytes, {}});
  std::vector<WriteTensor> tensors;
  tensors.reserve(state.tensors.size());
  for (const LegacyTensor& tensor : state.tensors)
    tensors.push_back({tensor.name, tensor.n_dims, tensor.shape, tensor.type, tensor.n_bytes, tensor.offset});
  Result<WrittenHeader> written = write_header({}, key_values, tensors);
  if (!written) return std::unexpected(written.error());

  LegacyHeader out;
  out.container = state.layout->container;
  out.bytes = std::move(written->bytes);
  ParseState parsed;
  const Result<ParseProgress> progress = parse_header(out.bytes, std::nullopt, parsed);
  if (!progress) return std::unexpected(progress.error());
  out.header = std::move(parsed.header);
  for (size_t i = 0; i < state.tensors.size(); ++i) {
    out.header.tensors[i].offset = state.tensors[i].offset;
    out.header.tensors[i].n_bytes = state.tensors[i].n_bytes;
  }
  return out;
}

}  // namespace ggufscope
