// Reads a file's tokens, their kinds and the special ones.
#include "text/vocabulary.hpp"

#include <algorithm>

#include "base/sentence.hpp"
#include "base/sort.hpp"
#include "gguf/access.hpp"
#include "gguf/arrays.hpp"
#include "text/rwkv_world.hpp"
#include "text/token_spelling.hpp"
#include "text/unicode.hpp"

namespace ggufscope {
namespace {

constexpr std::string_view kKmerMark = "\xEE\x80\x80";  // U+E000 distinguishes DNA k-mers from equal words

// The meaning of a value of tokenizer.ggml.model, with llama.cpp's defaults.
struct ModelRow {
  std::string_view name;
  TokenizerKind kind;
  TokenId bos, eos, unk, sep, pad, mask;
  bool add_bos, add_eos, add_sep, space_prefix, clean_spaces;
  std::string_view pre;  // overrides the file
};
// clang-format off
constexpr ModelRow kModels[] = {
  //                                         bos  eos  unk  sep  pad mask  +bos   +eos   +sep   prefix clean  pre
  {"llama",      TokenizerKind::kSpm,          1,   2,   0,  -1,  -1,  -1, true,  false, false, true,  false, ""},
  {"gpt2",       TokenizerKind::kBpe,         11,  11,  -1,  -1,  -1,  -1, false, false, false, false, true,  ""},
  {"gemma4",     TokenizerKind::kBpe,         -1,  -1,  -1,  -1,  -1,  -1, false, false, false, false, true,  "gemma4"},
  {"hybriddna",  TokenizerKind::kBpe,         11,  11,  -1,  -1,  -1,  -1, false, false, false, false, true,  ""},
  {"whitespace", TokenizerKind::kBpe,         11,  11,  -1,  -1,  -1,  -1, false, false, false, false, true,  ""},
  {"bert",       TokenizerKind::kWordPiece,  101,  -1, 100, 102,   0, 103, true,  false, true,  false, true,  ""},
  {"t5",         TokenizerKind::kUnigram,     -1,   1,   2,  -1,   0,  -1, false, true,  false, false, false, ""},
  {"replit",     TokenizerKind::kUnigram,     -1,   1,   0,  -1,   2,  -1, false, false, false, false, false, ""},
  {"rwkv",       TokenizerKind::kRwkv,        -1,  -1,  -1,  -1,  -1,  -1, false, false, false, false, false, ""},
  {"plamo2",     TokenizerKind::kPlamo2,       1,   2,   0,  -1,   3,  -1, false, false, false, false, false, ""},
};

struct SpecialKey {
  std::string_view key;  // after "tokenizer.ggml."
  TokenId SpecialIds::*id;
};
constexpr SpecialKey kSpecialKeys[] = {
  {"bos_token_id", &SpecialIds::bos}, {"eos_token_id", &SpecialIds::eos}, {"eot_token_id", &SpecialIds::eot},
  {"eom_token_id", &SpecialIds::eom}, {"unknown_token_id", &SpecialIds::unk}, {"seperator_token_id", &SpecialIds::sep},
  {"separator_token_id", &SpecialIds::sep},  // the specification's spelling
  {"padding_token_id", &SpecialIds::pad}, {"mask_token_id", &SpecialIds::mask},
  {"fim_pre_token_id", &SpecialIds::fim_pre}, {"fim_suf_token_id", &SpecialIds::fim_suf}, {"fim_mid_token_id", &SpecialIds::fim_mid},
  {"fim_pad_token_id", &SpecialIds::fim_pad}, {"fim_rep_token_id", &SpecialIds::fim_rep}, {"fim_sep_token_id", &SpecialIds::fim_sep},
  {"prefix_token_id", &SpecialIds::fim_pre}, {"suffix_token_id", &SpecialIds::fim_suf}, {"middle_token_id", &SpecialIds::fim_mid},
};

// Texts by which llama.cpp recognizes tokens that the file's keys do not name. "\xEF\xBD\x9C" is U+FF5C.
#define BAR "\xEF\xBD\x9C"
#define MARK "\xE2\x96\x81"
struct SpecialText {
  TokenId SpecialIds::*id;
  std::string_view text;
};
constexpr SpecialText kSpecialTexts[] = {
  {&SpecialIds::eot, "<|eot_id|>"}, {&SpecialIds::eot, "<|im_end|>"}, {&SpecialIds::eot, "<|end|>"}, {&SpecialIds::eot, "<end_of_turn>"},
  {&SpecialIds::eot, "<|endoftext|>"}, {&SpecialIds::eot, "<|end_of_text|>"}, {&SpecialIds::eot, "<EOT>"}, {&SpecialIds::eot, "_<EOT>"},
  {&SpecialIds::eot, "[EOT]"}, {&SpecialIds::eot, "<" BAR "end" MARK "of" MARK "sentence" BAR ">"}, {&SpecialIds::eot, "<end_of_utterance>"},
  {&SpecialIds::eom, "<|eom_id|>"},
  {&SpecialIds::fim_pre, "<|fim_prefix|>"}, {&SpecialIds::fim_pre, "<fim-prefix>"}, {&SpecialIds::fim_pre, "<fim_prefix>"},
  {&SpecialIds::fim_pre, "<" BAR "fim" MARK "begin" BAR ">"}, {&SpecialIds::fim_pre, "<PRE>"}, {&SpecialIds::fim_pre, MARK "<PRE>"},
  {&SpecialIds::fim_pre, "<|code_prefix|>"}, {&SpecialIds::fim_pre, "<|prefix|>"},
  {&SpecialIds::fim_suf, "<|fim_suffix|>"}, {&SpecialIds::fim_suf, "<fim-suffix>"}, {&SpecialIds::fim_suf, "<fim_suffix>"},
  {&SpecialIds::fim_suf, "<" BAR "fim" MARK "hole" BAR ">"}, {&SpecialIds::fim_suf, "<SUF>"}, {&SpecialIds::fim_suf, MARK "<SUF>"},
  {&SpecialIds::fim_suf, "<|code_suffix|>"}, {&SpecialIds::fim_suf, "<|suffix|>"},
  {&SpecialIds::fim_mid, "<|fim_middle|>"}, {&SpecialIds::fim_mid, "<fim-middle>"}, {&SpecialIds::fim_mid, "<fim_middle>"},
  {&SpecialIds::fim_mid, "<" BAR "fim" MARK "end" BAR ">"}, {&SpecialIds::fim_mid, "<MID>"}, {&SpecialIds::fim_mid, MARK "<MID>"},
  {&SpecialIds::fim_mid, "<|code_middle|>"}, {&SpecialIds::fim_mid, "<|middle|>"},
  {&SpecialIds::fim_pad, "<|fim_pad|>"}, {&SpecialIds::fim_pad, "<fim-pad>"}, {&SpecialIds::fim_pad, "<fim_pad>"}, {&SpecialIds::fim_pad, "<PAD>"},
  {&SpecialIds::fim_pad, "[PAD]"},
  {&SpecialIds::fim_rep, "<|fim_repo|>"}, {&SpecialIds::fim_rep, "<|repo_name|>"}, {&SpecialIds::fim_rep, "<fim-repo>"},
  {&SpecialIds::fim_rep, "<REPO>"}, {&SpecialIds::fim_rep, "<reponame>"},
  {&SpecialIds::fim_sep, "<|file_sep|>"},
};
constexpr std::string_view kEndTexts[] = {
  "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>", "<|endoftext|>", "</s>",
  "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>",
  "<" BAR "end" MARK "of" MARK "sentence" BAR ">", "[e~[",
};
constexpr std::string_view kAlwaysShown[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};  // gpt-oss
#undef BAR
#undef MARK
// clang-format on

constexpr uint16_t attr_of_type(int64_t type) {
  switch (type) {
    case 1:
      return kAttrNormal;
    case 2:
      return kAttrUnknown;
    case 3:
      return kAttrControl;
    case 4:
      return kAttrUserDefined;
    case 5:
      return kAttrUnused;
    case 6:
      return kAttrByte;
    default:
      return 0;
  }
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

GGUFSCOPE_WARM void add_text(Vocabulary& v, std::string_view text, uint64_t& duplicates, TokenId& first_duplicate) {
  const auto id = static_cast<uint32_t>(v.texts.size());
  v.texts.add(text);
  v.longest = std::max(v.longest, text.size());
  if (v.index.add(v.texts[id], id, [&](uint32_t other) { return v.texts[other]; }) == id) return;
  if (duplicates++ == 0) first_duplicate = static_cast<TokenId>(id);
}

constexpr std::string_view kWorldKey = "tokenizer.rwkv.world";

// Missing ids become "[EMPTY_7]", like empty tokens of other files. Id 0 is the end of text.
Result<void> load_world(const Gguf& gguf, const KeyValue& key, Vocabulary& v) {
  if (key.type != ValueType::kString) return fail(ErrorCode::kBadValueType, key.value.offset, "no string", kWorldKey);
  const std::string_view world = gguf.text(key.value);
  uint64_t duplicates = 0;
  TokenId first_duplicate = kNoToken;
  add_text(v, "<s>", duplicates, first_duplicate);
  for (size_t pos = 0; pos < world.size();) {
    const uint64_t line = key.value.offset + pos;
    auto token = read_rwkv_world_line(world, pos, key.value.offset);
    if (!token) return std::unexpected(std::move(token.error()));
    // An id cannot exceed the text's length, so that a line cannot force a huge vocabulary.
    if (token->id < v.texts.size() || token->id > world.size())
      return fail(ErrorCode::kOutOfRange, line, "a token's id does not follow the one before", kWorldKey);
    while (v.texts.size() < token->id)
      add_text(v, "[EMPTY_" + std::to_string(v.texts.size()) + "]", duplicates, first_duplicate);
    add_text(v, escape_rwkv(token->bytes), duplicates, first_duplicate);
  }
  return {};
}

Result<void> load_texts(const Gguf& gguf, Vocabulary& v) {
  uint64_t duplicates = 0, empty = 0;
  TokenId first_duplicate = kNoToken;
  const KeyValue* tokens = find_key(gguf, "tokenizer.ggml.tokens");
  if (tokens == nullptr && v.kind == TokenizerKind::kRwkv) {
    if (const KeyValue* world = find_key(gguf, kWorldKey); world != nullptr) return load_world(gguf, *world, v);
  }
  if (tokens == nullptr)
    return fail(ErrorCode::kUnsupported, "the file has no tokens: tokenizer.ggml.tokens is missing");
  if (tokens->type != ValueType::kArray || tokens->element_type != ValueType::kString)
    return fail(ErrorCode::kBadValueType, tokens->value.offset, "no array of strings", "tokenizer.ggml.tokens");
  // The texts are stored in one buffer; counts and offsets have 32 bits.
  if (tokens->count >= 0x7FFFFFFF || tokens->value.length >= 0xFFFFFFFF)
    return fail(ErrorCode::kBadCount, tokens->value.offset, "too many tokens", "tokenizer.ggml.tokens");
  v.texts.reserve(static_cast<size_t>(tokens->count), static_cast<size_t>(tokens->value.length));
  v.index.reserve(static_cast<size_t>(tokens->count));
  for_each_string(gguf, *tokens, [&](uint64_t i, Extent extent) {
    if (extent.length == 0) {
      ++empty;
      add_text(v, "[EMPTY_" + std::to_string(i) + "]", duplicates, first_duplicate);
    } else {
      add_text(v, gguf.text(extent), duplicates, first_duplicate);
    }
  });
  if (empty != 0) v.note(false, "token-empty", counted(empty, "token is", "tokens are") + " empty");
  if (duplicates != 0)
    v.note(true, "token-duplicate",
           counted(duplicates, "token has", "tokens have") + " the text of another, token " +
               std::to_string(first_duplicate) + " first: the lower id is used");
  return {};
}

void load_scores(const Gguf& gguf, Vocabulary& v) {
  if (find_key(gguf, "tokenizer.ggml.scores") == nullptr) return;
  auto scores = get_floats(gguf, "tokenizer.ggml.scores");
  if (!scores) return v.note(true, "scores-type", "tokenizer.ggml.scores is no array of numbers: every score is 0");
  if (scores->size() < v.texts.size())
    v.note(true, "scores-short", "there are fewer scores than tokens: the others are 0");
  // A NaN score would break comparisons.
  for (float& score : *scores)
    if (!(score == score)) score = 0.0f;
  scores->resize(v.texts.size());
  v.scores = std::move(*scores);
}

void load_types(const Gguf& gguf, Vocabulary& v) {
  v.attrs.assign(v.texts.size(), kAttrNormal);
  if (find_key(gguf, "tokenizer.ggml.token_type") != nullptr) {
    const auto types = get_integers(gguf, "tokenizer.ggml.token_type");
    if (!types) return v.note(true, "types-type", "tokenizer.ggml.token_type is no array of integers: it is ignored");
    if (types->size() < v.attrs.size())
      v.note(true, "types-short", "there are fewer token types than tokens: the others are normal");
    for (size_t i = 0; i < std::min(types->size(), v.attrs.size()); ++i) v.attrs[i] = attr_of_type((*types)[i]);
    return;
  }
  // Old files list added tokens in this key instead.
  const KeyValue* added = find_key(gguf, "tokenizer.ggml.added_tokens");
  if (added == nullptr || added->type != ValueType::kArray || added->element_type != ValueType::kString) return;
  for_each_string(gguf, *added, [&](uint64_t, Extent extent) {
    if (const TokenId id = v.find(gguf.text(extent)); id != kNoToken)
      v.attrs[static_cast<size_t>(id)] = kAttrUserDefined;
  });
}

void load_flags(const Gguf& gguf, Vocabulary& v, uint32_t pre_flags) {
  const auto flag = [&](std::string_view key, bool& value) {
    if (const auto found = get_bool(gguf, key)) value = *found;
  };
  flag("tokenizer.ggml.add_space_prefix", v.add_space_prefix);
  flag("tokenizer.ggml.remove_extra_whitespaces", v.remove_extra_whitespaces);
  flag("tokenizer.ggml.add_bos_token", v.add_bos);
  flag("tokenizer.ggml.add_eos_token", v.add_eos);
  flag("tokenizer.ggml.add_sep_token", v.add_sep);
  if ((pre_flags & kForceBos) != 0) v.add_bos = true;
  flag("tokenizer.ggml.normalizer.lowercase", v.lowercase);
  v.strip_accents = v.lowercase;
  flag("tokenizer.ggml.normalizer.strip_accents", v.strip_accents);
}

void load_special_ids(const Gguf& gguf, Vocabulary& v) {
  for (const SpecialKey& row : kSpecialKeys) {
    TokenId& id = v.special.*row.id;
    if (!v.has(id)) id = kNoToken;
    const std::string key = "tokenizer.ggml." + std::string(row.key);
    if (find_key(gguf, key) == nullptr) continue;
    const auto value = get_u64(gguf, key);
    if (value && *value < v.texts.size()) {
      id = static_cast<TokenId>(*value);
    } else {
      v.note(false, "special-id-out-of-range", key + " names no token: it is ignored");
    }
  }
  const auto needs = [&](bool& add, TokenId id, std::string_view what) {
    if (!add || id != kNoToken) return;
    add = false;
    v.note(true, "special-id-missing", std::string(what) + " is to be added to texts, but no token has that role");
  };
  needs(v.add_bos, v.special.bos, "BOS");
  needs(v.add_eos, v.special.eos, "EOS");
  needs(v.add_sep, v.special.sep, "SEP");
}

void recognize_special_texts(Vocabulary& v) {
  for (const SpecialText& row : kSpecialTexts) {
    TokenId& id = v.special.*row.id;
    if (id != kNoToken) continue;
    if (const TokenId match = v.find(row.text); match != kNoToken) {
      id = match;
      v.attrs[static_cast<size_t>(match)] |= kAttrControl;
    }
  }
  for (TokenId id = 0; id < v.size(); ++id)
    if (v.is(id, kAttrControl) && contains(v.text(id), "unused")) v.attrs[static_cast<size_t>(id)] |= kAttrUnused;

  std::vector<TokenId>& end = v.end_of_generation;
  const auto add_end = [&](TokenId id) {
    if (id != kNoToken && std::find(end.begin(), end.end(), id) == end.end()) end.push_back(id);
  };
  const auto remove_end = [&](TokenId id, uint16_t attr) {
    std::erase(end, id);
    v.attrs[static_cast<size_t>(id)] = attr;
  };
  for (const TokenId id : {v.special.fim_pad, v.special.fim_rep, v.special.fim_sep}) add_end(id);
  for (const std::string_view text : kEndTexts) {
    const TokenId id = v.find(text);
    if (id == kNoToken) continue;
    add_end(id);
    v.attrs[static_cast<size_t>(id)] |= kAttrControl;
  }
  for (const std::string_view text : kAlwaysShown)
    if (const TokenId id = v.find(text); id != kNoToken) v.attrs[static_cast<size_t>(id)] = kAttrUserDefined;
  for (const TokenId id : {v.special.eos, v.special.eot, v.special.eom}) add_end(id);

  const auto ends = [&](std::string_view text) {
    const TokenId id = v.find(text);
    return id != kNoToken && std::find(end.begin(), end.end(), id) != end.end();
  };
  // In Harmony and Solar templates, <|end|> ends a message, not the answer. In gemma 4, </s> is plain text.
  const bool calls = ends("<|call|>") || ends("<|calls|>");
  if (ends("<|end|>") && calls && (ends("<|return|>") || ends("<|flush|>")))
    remove_end(v.find("<|end|>"), kAttrUserDefined);
  if (ends("<|tool_response>") && ends("</s>")) remove_end(v.find("</s>"), kAttrNormal);

  std::vector<TokenId> special;
  for (TokenId id = 0; id < v.size(); ++id)
    if (v.is(id, kAttrControl | kAttrUserDefined | kAttrUnknown)) special.push_back(id);
  const auto longer = [&](uint32_t a, uint32_t b) { return v.text(special[a]).size() > v.text(special[b]).size(); };
  for (const uint32_t i : sorted_order(special.size(), longer)) v.special_tokens.push_back(special[i]);
}

void set_strips(const Gguf& gguf, Vocabulary& v) {
  const auto set = [&](std::string_view text, uint16_t attr, bool on) {
    const TokenId id = v.find(text);
    if (id == kNoToken) return;
    uint16_t& attrs = v.attrs[static_cast<size_t>(id)];
    attrs = static_cast<uint16_t>(on ? attrs | attr : attrs & ~attr);
  };
  const std::string_view arch = get_string(gguf, "general.architecture").value_or("");
  std::string name(get_string(gguf, "general.name").value_or(""));
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (contains(v.pre_name, "jina-v2-de") || contains(v.pre_name, "jina-v2-es") ||
      contains(v.pre_name, "jina-v2-code") || contains(arch, "nomic-bert-moe") || contains(arch, "jina-bert-v3")) {
    set("<mask>", kAttrLeftStrip, true);
  } else if (contains(name, "phi-3") || contains(name, "phi3")) {
    for (const TokenId id : v.special_tokens) v.attrs[static_cast<size_t>(id)] |= kAttrRightStrip;
    set("</s>", kAttrRightStrip, true);
    for (const std::string_view text : {"<unk>", "<s>", "<|endoftext|>"}) set(text, kAttrRightStrip, false);
  } else if (contains(name, "modern-bert")) {
    set("[MASK]", kAttrLeftStrip, true);
  }
}

GGUFSCOPE_WARM void append_piece(std::string& out, const Vocabulary& v, TokenId id) {
  const std::string_view text = v.text(id);
  if (v.kind == TokenizerKind::kRwkv) {
    out += unescape_rwkv(text);
    return;
  }
  const int byte = v.is(id, kAttrByte) ? parse_byte_token(text) : -1;
  if (v.kind == TokenizerKind::kPlamo2) {
    if (byte >= 0)
      out.push_back(static_cast<char>(byte));
    else
      out += text;
  } else if (v.is(id, kAttrUnknown | kAttrControl | kAttrUserDefined)) {
    out += text;
  } else if (v.is(id, kAttrNormal)) {
    if (v.kind != TokenizerKind::kBpe || v.escape_whitespaces)
      append_unescaped_spaces(out, text);
    else if (!append_printable_bytes(out, text))
      out += text;
  } else if (v.is(id, kAttrByte)) {
    if (byte >= 0)
      out.push_back(static_cast<char>(byte));
    else
      out += text;
  }
}

void note_byte_tokens(Vocabulary& v) {
  uint64_t bad_bytes = 0;
  for (TokenId id = 0; id < v.size(); ++id)
    if (v.is(id, kAttrByte) && parse_byte_token(v.text(id)) < 0) ++bad_bytes;
  if (bad_bytes != 0)
    v.note(false, "byte-token-malformed", std::to_string(bad_bytes) + " byte tokens are not spelled <0x00> to <0xFF>");
}

}  // namespace

void Vocabulary::append_piece_of(std::string& out, TokenId id) const { append_piece(out, *this, id); }

const TextList& Vocabulary::pieces() const {
  if (pieces_.size() == texts.size()) return pieces_;
  const TokenId kmers = model == "hybriddna" ? find("<oov>") : kNoToken;
  pieces_.reserve(texts.size(), texts.bytes());
  std::string piece;
  for (TokenId id = 0; id < size(); ++id) {
    piece.clear();
    append_piece(piece, *this, id);
    if (kmers != kNoToken && id > kmers && text(id).ends_with(kKmerMark))
      piece = text(id).substr(0, text(id).size() - 3);
    pieces_.add(piece);
  }
  return pieces_;
}

TokenId Vocabulary::byte_token(uint8_t byte) const {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  const char spelled[] = {'<', '0', 'x', kHex[byte >> 4], kHex[byte & 15], '>'};
  return find({spelled, 6});
}

Result<Vocabulary> load_vocabulary(const Gguf& gguf) {
  auto model = get_string(gguf, "tokenizer.ggml.model");
  if (!model && find_key(gguf, kWorldKey) != nullptr) model = "rwkv";
  if (!model) return fail(ErrorCode::kUnsupported, "the file has no tokenizer: tokenizer.ggml.model is missing");
  const ModelRow* row =
      std::find_if(std::begin(kModels), std::end(kModels), [&](const ModelRow& m) { return m.name == *model; });
  if (row == std::end(kModels))
    return fail(ErrorCode::kUnsupported, "the tokenizer is of an unknown kind: " + std::string(model->substr(0, 64)));

  Vocabulary v;
  v.kind = row->kind;
  v.model = *model;
  v.special = {.bos = row->bos, .eos = row->eos, .unk = row->unk, .sep = row->sep, .pad = row->pad, .mask = row->mask};
  v.add_bos = row->add_bos;
  v.add_eos = row->add_eos;
  v.add_sep = row->add_sep;
  v.add_space_prefix = row->space_prefix;
  v.clean_spaces = row->clean_spaces;
  v.pre_name = row->pre.empty() ? get_string(gguf, "tokenizer.ggml.pre").value_or("") : row->pre;
  uint32_t pre_flags = 0;
  if (v.kind == TokenizerKind::kBpe) {
    v.pre = find_pre_tokenizer(v.pre_name);
    if (v.pre == nullptr) {
      v.note(!v.pre_name.empty(), v.pre_name.empty() ? "pre-tokenizer-missing" : "pre-tokenizer-unknown",
             v.pre_name.empty() ? "tokenizer.ggml.pre is missing: texts are cut as llama.cpp does by default"
                                : "tokenizer.ggml.pre is \"" + v.pre_name.substr(0, 64) +
                                      "\", which is not known: texts are cut as llama.cpp does by default");
      v.pre = find_pre_tokenizer("default");
    }
    pre_flags = v.pre->flags;
    v.ignore_merges = (pre_flags & kIgnoreMerges) != 0;
    v.add_bos |= (pre_flags & kAddBos) != 0;
    v.add_sep |= (pre_flags & kAddSep) != 0;
    v.clean_spaces = (pre_flags & kKeepSpaces) == 0;
    v.escape_whitespaces = (pre_flags & kEscapeSpaces) != 0;
    v.byte_encode = (pre_flags & kRawBytes) == 0;
    if ((pre_flags & kNoBos) != 0) v.special.bos = kNoToken;
    if (v.pre->name == "whitespace") v.lowercase = false;
  }
  if (v.pre_name.empty()) v.pre_name = "default";

  if (auto loaded = load_texts(gguf, v); !loaded) return std::unexpected(std::move(loaded.error()));
  load_scores(gguf, v);
  load_types(gguf, v);
  load_flags(gguf, v, pre_flags);
  load_special_ids(gguf, v);
  recognize_special_texts(v);
  note_byte_tokens(v);
  set_strips(gguf, v);
  return v;
}

}  // namespace ggufscope
