// A session: a model, its tokenizer and a sampler, one step at a time, so that the caller can stop between any two.
//
//   open(header)  ->  memory()  ->  begin_load, set_rows for every request of model().plan(), start(context); somewhere
//   between, when nothing else is to be done, read_vocabulary
//   begin(tokens) keeps what the cache already holds of them;  advance(n) computes the next n;  next() gives a token
//   fork(from, to) lets two texts go on from the same beginning, which is kept once;  select(text) changes between them
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/answer_grammar.hpp"
#include "engine/answer_text.hpp"
#include "engine/sampler.hpp"
#include "gguf/parse.hpp"
#include "model/forward.hpp"
#include "model/pooling.hpp"
#include "nn/peaks.hpp"
#include "text/tokenizer.hpp"

namespace ggufscope {

struct GenerateOptions {
  SamplerOptions sampler;
  /// Text that ends the answer and is not part of it. Control tokens, which make no text, are looked for by their
  /// names.
  std::vector<std::string> stop;
  std::vector<std::string> dry_breakers{"\n", ":", "\"", "*"};
  uint32_t n_probabilities = 0;  ///< likeliest alternatives to tell of each token
  bool ignore_end = false;       ///< end-of-generation tokens are tokens as any other
  bool shift = false;            ///< a full context forgets its older half in place of ending
  uint32_t n_guesses = 0;        ///< tokens guessed at most before they are drawn; the answer is the same
  std::string grammar;           ///< GBNF that the answer keeps to, whole unless it is cut short; empty: any text
  std::vector<GrammarTrigger> triggers;  ///< where the grammar begins; none: with the answer
  std::vector<TokenId> shown;            ///< control tokens whose names are part of the text
};

enum class Finish : uint8_t { kNone, kEnd, kStop, kContext };

struct Step {
  TokenId token = kNoToken;
  std::string text;  ///< whole code points, often empty; what may begin a stop string is held back
  float log_p = 0;   ///< of the token, where n_probabilities is not 0
  std::vector<LogProbability> best;
  Finish finish = Finish::kNone;  ///< not kNone: the last step; token may be kNoToken
};

/// At least the header of a file, and how long the file is if that is known.
struct HeaderBytes {
  ByteView bytes;
  std::optional<uint64_t> file_size;
};

class Session {
 public:
  /// The headers of a model's files in order, of which there are several where it was split. Errors of the parser and
  /// of Model::open. A file without a vocabulary opens too: it has no tokenizer and takes token ids only.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(std::span<const HeaderBytes> headers, size_t n_threads);
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(ByteView header, std::optional<uint64_t> file_size,
                                                             size_t n_threads) {
    const HeaderBytes only{header, file_size};
    return open({&only, 1}, n_threads);
  }

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] const Tokenizer* tokenizer() const { return tokenizer_ ? &*tokenizer_ : nullptr; }
  [[nodiscard]] size_t n_threads() const { return pool_->n_threads(); }
  [[nodiscard]] void* worker(size_t thread) { return pool_->worker(thread); }
  void use_threads(size_t n) { pool_->use_threads(n); }
  /// What was computed since the last call. The first call begins to time it, and gives nothing.
  [[nodiscard]] std::vector<Profile::Row> take_profile();
  /// Memory's reads: of as many bytes as the weights have, as each token reads them all.
  [[nodiscard]] Result<Peaks> measure_peaks() {
    return ggufscope::measure_peaks(*pool_, std::min<uint64_t>(model_->loaded_bytes(), 1 << 30));
  }
  [[nodiscard]] const SamplerOptions& sampler_defaults() const { return defaults_; }
  [[nodiscard]] const std::string& architecture() const { return architecture_; }
  [[nodiscard]] uint32_t n_context() const { return state_ ? state_->options().n_ctx : 0; }
  [[nodiscard]] uint32_t n_texts() const { return static_cast<uint32_t>(texts_.size()); }

  [[nodiscard]] Result<MemoryEstimate> memory(const StateOptions& options, Precision precision) const;
  [[nodiscard]] Result<void> begin_load(Precision precision) { return model_->begin_load(*pool_, precision); }
  [[nodiscard]] Result<void> set_rows(size_t request, uint64_t first_row, ByteView rows) {
    return model_->set_rows(*pool_, request, first_row, rows);
  }
  /// Makes the tokenizer; until then the first file's header must stay where it is. start does it where it was not done
  /// before: a loader has time for it while bytes are on their way.
  void read_vocabulary();
  /// All rows are there: makes the state. kTruncated where rows are missing, kOutOfMemory.
  [[nodiscard]] Result<void> start(const StateOptions& options);

  /// The text that the calls below speak of; 0 at first. options.n_sequences of start says how many there are.
  /// kOutOfRange. Texts share the cells of the cache: a beginning that they have in common is there once.
  [[nodiscard]] Result<void> select(uint32_t text);
  /// Lets text to begin as text from does now. kOutOfRange, kUnsupported for encoder-decoder models.
  [[nodiscard]] Result<void> fork(uint32_t from, uint32_t to);
  /// Forgets the selected text and what only it keeps in the cache.
  void drop();

  /// The text to go on from. Kept is the longest beginning that the cache already holds; the rest waits for advance.
  /// kOutOfRange for unknown ids, more tokens than the context holds, or none; errors of Grammar::compile.
  [[nodiscard]] Result<void> begin(std::span<const TokenId> tokens, GenerateOptions options);
  [[nodiscard]] size_t n_waiting() const { return text().tokens.size() - text().n_computed; }
  [[nodiscard]] size_t n_reused() const { return text().n_reused; }
  /// Computes up to n of the tokens that wait.
  [[nodiscard]] Result<void> advance(size_t n);
  /// The next token. None may wait; it is computed by the next advance, or by next itself.
  /// With options.n_guesses, what followed the last tokens where they stood before is computed along with the last one;
  /// a guess that is drawn then needs no pass of its own, others leave the cache. Recurrent and encoder-decoder models
  /// guess nothing: their states cannot go back.
  [[nodiscard]] Result<Step> next();
  /// Ends the answer here: the text that was held back. finish is kStop where that text completes a stop string. After
  /// the last step it gives nothing.
  [[nodiscard]] Step end();
  /// Tokens of this answer that were guessed.
  [[nodiscard]] size_t n_guessed() const { return text().n_guessed; }

  /// Floats: logits [tokens.size(), n_vocab] (of encoders: embeddings [.., n_embd]) of a text of its own. Forgets the
  /// cache of all texts. kUnsupported for encoder-decoder models.
  [[nodiscard]] Result<Buffer> evaluate(std::span<const TokenId> tokens);
  /// One pooled vector [pooled_floats], with kNone [tokens.size(), pooled_floats]; of encoder-decoder models the
  /// encoder's. Not normalized. Forgets the cache of all texts. Errors of pool_embeddings.
  [[nodiscard]] Result<std::vector<float>> embed(std::span<const TokenId> tokens,
                                                 Pooling pooling = Pooling::kUnspecified);

  /// The cache and the tokens in it as bytes, and back, in a session of the same file.
  [[nodiscard]] Result<std::vector<uint8_t>> save_state();
  [[nodiscard]] Result<void> load_state(ByteView bytes);

 private:
  /// Prompt and answer, and what draws the next token.
  struct Text {
    std::vector<TokenId> tokens;  // the first n_computed are in the cache
    size_t n_computed = 0;
    size_t n_reused = 0;
    std::vector<TokenId> guesses;  // computed after the first n_computed, if they are drawn: only of the selected text
    size_t n_right = 0;            // of the guesses, which are among n_computed by now
    size_t n_guessed = 0;
    std::vector<float> logits;  // of the last computed token when guesses were made, then of each guess
    GenerateOptions options;
    std::optional<Sampler> sampler;
    std::optional<AnswerText> answer;
    bool finished = true;
    void forget() {
      tokens.clear();
      n_computed = n_reused = 0;
      guesses.clear();
      finished = true;
    }
    AnswerGrammar grammar;
  };

  Session() = default;
  [[nodiscard]] Text& text() { return texts_[now_]; }
  [[nodiscard]] const Text& text() const { return texts_[now_]; }
  [[nodiscard]] StateOptions adjusted(StateOptions options) const;
  [[nodiscard]] Result<void> check(std::span<const TokenId> tokens) const;
  void forget();
  [[nodiscard]] Result<void> set_grammar(const GenerateOptions& options);
  [[nodiscard]] std::span<const float> logits() const;
  [[nodiscard]] Result<Candidate> sample();
  [[nodiscard]] std::vector<TokenId> guess() const;
  [[nodiscard]] bool was_guessed();
  void forget_guesses();
  [[nodiscard]] Result<void> compute(size_t n, std::span<const TokenId> guesses);
  [[nodiscard]] bool make_room();
  void finish_text(Step& step);

  std::string architecture_;
  SamplerOptions defaults_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Model> model_;
  std::optional<Header> header_;  // of the first file, until the tokenizer is made
  ByteView header_bytes_;
  std::optional<Tokenizer> tokenizer_;
  TokenTrie trie_;  // made for the first grammar
  std::unique_ptr<State> state_;
  std::vector<Text> texts_ = std::vector<Text>(1);
  uint32_t now_ = 0;
};

}  // namespace ggufscope
