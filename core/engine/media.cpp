// Splits images and audio into parts, gives them ids, and encodes them step by step.
#include "engine/media.hpp"

#include <algorithm>
#include <cmath>

#include "base/sentence.hpp"
#include "nn/finite.hpp"

namespace ggufscope {
namespace {

constexpr std::string_view kOfImages = "image encoder", kOfAudio = "audio encoder";

// FNV-1a hash of 32-bit numbers and bytes.
uint64_t hash_of(std::initializer_list<uint32_t> numbers, ByteView bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (const uint32_t number : numbers)
    for (int shift = 0; shift < 32; shift += 8) add(number >> shift & 255);
  for (const uint8_t byte : bytes) add(byte);
  return hash;
}

uint64_t hash_of(const Image& image) { return hash_of({image.size.width, image.size.height}, image.rgb); }

// The id for a hash. If another part already has it, the next free id.
TokenId media_id(uint64_t hash, const MediaStore& store) {
  uint32_t folded = static_cast<uint32_t>(hash ^ hash >> 32) & 0x3fffffff;
  for (;; ++folded) {
    const TokenId id = kNoToken - 1 - static_cast<TokenId>(folded & 0x3fffffff);
    const auto found = store.find(id);
    if (found == store.end() || found->second.hash == hash) return id;
  }
}

TokenId find_piece(const Tokenizer& tokenizer, std::string_view piece) {
  for (uint32_t id = 0; id < tokenizer.size(); ++id)
    if (tokenizer.piece(static_cast<TokenId>(id)) == piece) return static_cast<TokenId>(id);
  return kNoToken;
}

// Replaces %r by row and every other % with its letter by column.
std::string with_numbers(std::string_view text, uint32_t row, uint32_t column) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    ++i;
    out += std::to_string(text[i] == 'r' ? row : column);
  }
  return out;
}

// The error if step `step` of an encoder gave values that are not finite: the embedding, the layers, the projector.
Result<void> check_numbers(std::span<const float> values, size_t step, bool last, std::string_view encoder) {
  if (all_finite(values)) return {};
  const std::string where =
      last        ? std::string("the projector")
      : step == 0 ? "the first step of the " + std::string(encoder)
                  : "layer " + std::to_string(step - 1) + " (counted from 0) of the " + std::string(encoder);
  return fail(ErrorCode::kOutOfRange, "the results are not numbers: the first that is none comes from " + where);
}

class PieceWriter {
 public:
  PieceWriter(const Tokenizer& tokenizer, std::vector<ImagePiece>& out) : tokenizer_(tokenizer), out_(out) {}
  void text(std::string_view text) {
    if (!text.empty()) add(tokenizer_.encode(text, {.special = true}));
  }
  void pieces(std::initializer_list<std::string_view> pieces) {
    for (const std::string_view piece : pieces) {
      const TokenId id = find_piece(tokenizer_, piece);
      if (id == kNoToken && missing_.empty()) missing_ = piece;
      add({id});
    }
  }
  void part(size_t number) { out_.push_back({{}, static_cast<int32_t>(number)}); }
  [[nodiscard]] std::string_view missing() const { return missing_; }

 private:
  void add(const std::vector<TokenId>& tokens) {
    if (out_.empty() || out_.back().part >= 0) out_.emplace_back();
    out_.back().tokens.insert(out_.back().tokens.end(), tokens.begin(), tokens.end());
  }
  const Tokenizer& tokenizer_;
  std::vector<ImagePiece>& out_;
  std::string_view missing_;
};

// Allocates as much as the work needs, at once, and frees it: containers cannot report that memory is missing.
Result<void> check_allocation(uint64_t bytes, std::string_view what) {
  const Result<Buffer> buffer = Buffer::allocate(bytes);
  const uint8_t* volatile allocated = buffer ? buffer->data() : nullptr;  // volatile: a compiler may remove the pair
  if (allocated != nullptr) return {};
  return fail(ErrorCode::kOutOfMemory, sentence({what, " needs ", bytes >> 20, " MiB to be encoded"}));
}

Result<void> check_tokens(ImageSize image, uint64_t n_tokens, size_t max_tokens) {
  if (n_tokens <= max_tokens) return {};
  return fail(ErrorCode::kOutOfRange, sentence({"an image of ", image.width, " x ", image.height, " pixels needs ",
                                                Counted{n_tokens, "token"}, ", and the context has ", max_tokens}));
}

}  // namespace

Result<std::vector<TokenRun>> token_runs(std::span<const TokenId> tokens, const MediaStore& store) {
  std::vector<TokenRun> runs;
  int32_t position = 0;
  for (size_t i = 0; i < tokens.size();) {
    TokenRun run{i, i, nullptr, 0, position};
    if (!is_media(tokens[i])) {
      while (run.end < tokens.size() && !is_media(tokens[run.end])) ++run.end;
      position += static_cast<int32_t>(run.end - run.begin);
    } else {
      const auto found = store.find(tokens[i]);
      if (found == store.end())
        return fail(ErrorCode::kNotFound, "there is no image or audio with the id " + std::to_string(tokens[i]) +
                                              "; it must be encoded again");
      run.medium = &found->second;
      while (run.end < tokens.size() && run.end - run.begin < run.medium->n_tokens && tokens[run.end] == tokens[i])
        ++run.end;
      position += static_cast<int32_t>(run.medium->n_positions);
    }
    i = run.end;
    runs.push_back(run);
  }
  return runs;
}

std::vector<int32_t> media_axes(const Medium& medium, size_t offset, size_t n, int32_t position, bool canvas_time) {
  std::vector<int32_t> axes;
  axes.reserve(3 * n);
  for (size_t i = offset; i < offset + n; ++i) {
    if (!medium.canvas.empty()) {
      // The canvas begins at the position before the medium.
      const CanvasPlace& place = medium.canvas[i];
      const bool apart = place.row < 0;
      const int32_t time = position + place.step, origin = position - 1;
      axes.push_back(apart || !canvas_time ? time : origin);
      axes.push_back(apart ? time : origin + place.row);
      axes.push_back(apart ? time : origin + place.column);
      continue;
    }
    if (medium.columns == 0) {
      axes.insert(axes.end(), 3, position + static_cast<int32_t>(i));
      continue;
    }
    axes.push_back(position);
    axes.push_back(position + static_cast<int32_t>(i / medium.columns));
    axes.push_back(position + static_cast<int32_t>(i % medium.columns));
  }
  return axes;
}

Result<std::vector<ImagePiece>> image_pieces(const ImageMarkers& markers, const ImageLayout& layout, uint32_t number,
                                             const Tokenizer& tokenizer) {
  std::vector<ImagePiece> out;
  PieceWriter write(tokenizer, out);
  const bool cut = layout.n_tiles() != 0;
  const auto overview = [&](bool now) {
    if (!now) return;
    const bool bare = markers.cut_only && !cut;
    if (!bare) write.pieces(markers.overview_begin);
    write.part(static_cast<size_t>(layout.n_tiles()));
    if (!bare) write.pieces(markers.overview_end);
  };
  write.text(with_numbers(markers.begin, number, number));
  overview(markers.overview_first);
  if (cut) write.pieces(markers.tiles_begin);
  for (uint32_t row = 0; cut && row < layout.rows; ++row) {
    for (uint32_t column = 0; column < layout.columns; ++column) {
      write.text(with_numbers(markers.tile, row + 1, column + 1));
      write.pieces(markers.tile_begin);
      write.part(size_t{row} * layout.columns + column);
      write.pieces(markers.tile_end);
    }
    if (row + 1 < layout.rows) write.pieces(markers.row_end);
  }
  if (cut) write.pieces(markers.tiles_end);
  overview(!markers.overview_first);
  write.text(markers.end);
  if (!write.missing().empty())
    return fail(ErrorCode::kNotFound,
                sentence({"the vocabulary has no token ", Quoted{write.missing()}, ", which the projector needs"}));
  return out;
}

Result<void> ImageJob::check_parts(ImageSize image, const ImageLayout& layout, size_t max_tokens) const {
  uint64_t n_tokens = 0;
  const auto add = [&](ImageSize part, uint64_t count) -> Result<void> {
    if (count == 0) return {};
    n_tokens += count * model_.tokens_of(part).n_tokens;
    return ImageEncoder::check(model_, part);
  };
  if (const Result<void> good = add(layout.tile, layout.n_tiles()); !good) return good;
  if (const Result<void> good = add(layout.overview, 1); !good) return good;
  return check_tokens(image, std::max(n_tokens, layout.n_tiles()), max_tokens);
}

Result<void> ImageJob::check_memory(const ImageLayout& layout) const {
  uint64_t run = ImageEncoder::run_bytes(model_, layout.overview, pool_.n_threads());
  uint64_t n_tokens = model_.tokens_of(layout.overview).n_tokens;
  if (layout.n_tiles() != 0) {
    run = std::max(run, ImageEncoder::run_bytes(model_, layout.tile, pool_.n_threads()));
    n_tokens += layout.n_tiles() * model_.tokens_of(layout.tile).n_tokens;
  }
  const uint64_t bytes = layout.n_bytes + run + n_tokens * model_.n_out() * sizeof(float);
  return check_allocation(bytes, "this image");
}

void ImageJob::add_part(const Image& part, bool multi_axis, const MediaStore& store, MediaStore& known) {
  const TokenGrid grid = model_.tokens_of(part.size);
  const bool by_grid = multi_axis && model_.row().grid_positions;
  Medium medium;
  medium.hash = hash_of(part);
  medium.n_tokens = grid.n_tokens;
  medium.columns = by_grid ? grid.columns : grid.n_tokens;
  medium.n_positions = by_grid ? std::max(grid.columns, grid.rows) : grid.n_tokens;
  medium.both_ways = model_.row().non_causal;
  if (add_medium(std::move(medium), store, known) != nullptr) waiting_parts_.push_back(&part);
}

Medium* ImageJob::add_medium(Medium&& medium, const MediaStore& store, MediaStore& known) {
  const TokenId id = media_id(medium.hash, known);
  tokens_.insert(tokens_.end(), medium.n_tokens, id);
  const auto found = store.find(id);
  const bool waits = std::ranges::any_of(waiting_, [&](const auto& other) { return other.first == id; });
  if (waits || (found != store.end() && !found->second.embeddings.empty())) return nullptr;
  known[id].hash = medium.hash;
  return &waiting_.emplace_back(id, std::move(medium)).second;
}

void ImageJob::add_canvas(const ImageLayout& layout, bool multi_axis, const MediaStore& store, MediaStore& known) {
  const auto part_of = [&](const CanvasItem& item) {
    const auto number = static_cast<size_t>(item.part);
    return number < parts_.tiles.size() ? &parts_.tiles[number] : &*parts_.overview;
  };
  items_ = canvas_items(layout);
  item_ = 0;
  const auto grid_of = [&](ImageSize part) { return model_.tokens_of(part); };
  Medium medium;
  medium.canvas = canvas_places(items_, layout, grid_of(layout.overview), grid_of(layout.tile));
  medium.n_tokens = static_cast<uint32_t>(medium.canvas.size());
  medium.n_positions = static_cast<uint32_t>(multi_axis ? items_.size() : medium.canvas.size());
  medium.hash = hash_of({layout.columns, layout.rows}, {});
  for (const CanvasItem& item : items_) {
    if (item.part < 0) continue;
    const uint64_t part = hash_of(*part_of(item));
    medium.hash = hash_of({static_cast<uint32_t>(medium.hash), static_cast<uint32_t>(medium.hash >> 32),
                           static_cast<uint32_t>(part), static_cast<uint32_t>(part >> 32)},
                          {});
  }
  if (!multi_axis) medium.canvas.clear();
  Medium* const waits = add_medium(std::move(medium), store, known);
  if (waits == nullptr) return;
  waits->embeddings.reserve(waits->n_tokens * model_.n_out());
  for (const CanvasItem& item : items_)
    if (item.part >= 0) waiting_parts_.push_back(part_of(item));
}

void ImageJob::join(Medium& medium, const std::vector<float>& part) {
  const size_t n = model_.n_out();
  medium.embeddings.insert(medium.embeddings.end(), part.begin(), part.end());
  for (++item_; item_ < items_.size() && items_[item_].part < 0; ++item_) {
    const float* const row = model_.weights().separators.data() + items_[item_].separator * n;
    medium.embeddings.insert(medium.embeddings.end(), row, row + n);
  }
}

Result<void> ImageJob::start(const ImageView& image, uint32_t number, const Tokenizer& tokenizer, bool multi_axis,
                             size_t max_tokens, MediaStore& store) {
  const ImageRule& rule = model_.parameters().image;
  const Result<ImageLayout> layout = image_layout(image.size, rule);
  if (!layout) return std::unexpected(layout.error());
  if (const Result<void> good = check_parts(image.size, *layout, max_tokens); !good) return good;
  const Result<std::vector<ImagePiece>> pieces = image_pieces(*model_.parameters().markers, *layout, number, tokenizer);
  if (!pieces) return std::unexpected(pieces.error());
  uint64_t n_tokens = 0;
  for (const ImagePiece& piece : *pieces)
    n_tokens +=
        piece.part < 0
            ? piece.tokens.size()
            : model_.tokens_of(static_cast<uint64_t>(piece.part) < layout->n_tiles() ? layout->tile : layout->overview)
                  .n_tokens;
  const bool canvas = model_.row().canvas;
  if (canvas) n_tokens += canvas_items(*layout).size() - layout->n_tiles() - 1;
  if (const Result<void> good = check_tokens(image.size, n_tokens, max_tokens); !good) return good;
  if (const Result<void> good = check_memory(*layout); !good) return good;
  Result<ImageParts> parts = split_image(image, rule);
  if (!parts) return std::unexpected(parts.error());
  parts_ = std::move(*parts);
  tokens_.clear();
  waiting_.clear();
  waiting_parts_.clear();
  MediaStore known;  // parts of this image, whose ids are assigned before they are encoded
  for (const auto& [id, medium] : store) known[id].hash = medium.hash;
  for (const ImagePiece& piece : *pieces) {
    tokens_.insert(tokens_.end(), piece.tokens.begin(), piece.tokens.end());
    if (piece.part < 0) continue;
    if (canvas) {  // the other pieces are its tiles
      add_canvas(*layout, multi_axis, store, known);
      break;
    }
    const auto part_number = static_cast<size_t>(piece.part);
    add_part(part_number < parts_.tiles.size() ? parts_.tiles[part_number] : *parts_.overview, multi_axis, store,
             known);
  }
  at_ = part_step_ = 0;
  n_steps_ = waiting_parts_.size() * encoder_.n_steps();
  if (waiting_.empty()) return {};
  return encoder_.start(*waiting_parts_[0]);
}

Result<void> ImageJob::end_layers(uint32_t end) {
  part_step_ = end + 1;
  if (const Result<void> good = check_numbers(encoder_.activations(), end, false, kOfImages); !good) return good;
  encoder_.end_layers(end);
  return {};
}

Result<bool> ImageJob::step(MediaStore& store) {
  if (at_ == waiting_parts_.size()) return false;
  if (encoder_.step()) {
    const Result<void> good = check_numbers(encoder_.activations(), part_step_++, false, kOfImages);
    if (!good) return std::unexpected(good.error());
    return true;
  }
  part_step_ = 0;
  const bool canvas = model_.row().canvas;
  auto& [id, medium] = waiting_[canvas ? 0 : at_];
  std::vector<float> part = encoder_.take_output();
  if (const Result<void> good = check_numbers(part, 0, true, kOfImages); !good) return std::unexpected(good.error());
  if (canvas) {
    join(medium, part);
    if (at_ + 1 < waiting_parts_.size()) return next_part();
  } else {
    medium.embeddings = std::move(part);
  }
  store[id] = std::move(medium);
  return next_part();
}

Result<bool> ImageJob::next_part() {
  if (++at_ == waiting_parts_.size()) return false;
  if (const Result<void> begun = encoder_.start(*waiting_parts_[at_]); !begun) return std::unexpected(begun.error());
  return true;
}

namespace {

std::span<const float> floats_of(const Vector& v) { return {v.data(), v.n}; }

// The samples at both rates, the frames of all parts and of the one that is encoded, its encoding, and the embeddings.
Result<void> check_sound_memory(uint64_t n_samples, uint64_t n_parts, uint64_t n_tokens, const AudioModel& model,
                                size_t n_threads) {
  const SoundRule& rule = model.parameters().sound;
  const size_t n_frames = SoundFrames::part_frames(rule, n_samples, 0);
  const uint64_t floats =
      2 * n_samples + (n_parts + 1) * n_frames * rule.stack * rule.n_mel + 2 * n_tokens * model.n_out();
  return check_allocation(floats * sizeof(float) + model.scratch_bytes(n_threads, n_frames), "this audio");
}

}  // namespace

SoundJob::SoundJob(const AudioModel& model, Pool& pool)
    : model_(model),
      pool_(pool),
      encoder_(model.row().family->create(model, pool)),
      frames_(model.parameters().sound, floats_of(model.weights().mel_filters), floats_of(model.weights().mel_window)) {
}

Result<void> SoundJob::check(std::span<const float> samples, uint64_t n, const AudioModel& model, size_t n_threads,
                             size_t max_tokens) {
  const SoundRule& rule = model.parameters().sound;
  if (samples.empty()) return fail(ErrorCode::kInvalidArgument, "the audio has no samples");
  const auto broken = std::ranges::find_if_not(samples, [](float x) { return std::isfinite(x); });
  if (broken != samples.end())
    return fail(ErrorCode::kInvalidArgument,
                "sample " + std::to_string(broken - samples.begin()) + " of the audio is not a finite number");
  if (const Result<void> good = check_sample_count(n); !good) return good;
  if (n < rule.fewest)
    return fail(ErrorCode::kInvalidArgument,
                "the audio has " + counted(n, "sample") + "; this projector needs " + std::to_string(rule.fewest));
  // All parts but the last have the same length.
  const size_t n_parts = SoundFrames::n_parts(rule, n);
  const uint64_t n_tokens = (n_parts - 1) * uint64_t{model.n_tokens(SoundFrames::part_frames(rule, n, 0))} +
                            model.n_tokens(SoundFrames::part_frames(rule, n, n_parts - 1));
  if (n_tokens > max_tokens)
    return fail(ErrorCode::kOutOfRange, "audio of " + std::to_string(n / rule.rate) + " s needs " +
                                            counted(n_tokens, "token") + ", and the context has " +
                                            std::to_string(max_tokens));
  return check_sound_memory(n, n_parts, n_tokens, model, n_threads);
}

Result<void> SoundJob::start(std::vector<float> samples, const Tokenizer& tokenizer, size_t max_tokens,
                             const MediaStore& store) {
  if (const Result<void> good = check(samples, samples.size(), model_, pool_.n_threads(), max_tokens); !good)
    return good;
  const SoundRule& rule = model_.parameters().sound;
  const AudioProjectorRow& row = model_.row();
  const ByteView bytes(reinterpret_cast<const uint8_t*>(samples.data()), samples.size() * sizeof(float));
  const auto text = [&](std::string_view around) {
    if (around.empty()) return;
    const std::vector<TokenId> ids = tokenizer.encode(around, {.special = true});
    tokens_.insert(tokens_.end(), ids.begin(), ids.end());
  };
  tokens_.clear();
  waiting_.clear();
  MediaStore known;  // ids are assigned before parts are encoded
  for (const auto& [id, medium] : store) known[id].hash = medium.hash;
  text(row.begin);
  const uint64_t whole = hash_of({}, bytes);
  for (size_t part = 0; part < SoundFrames::n_parts(rule, samples.size()); ++part) {
    Medium medium;
    medium.hash =
        hash_of({static_cast<uint32_t>(whole), static_cast<uint32_t>(whole >> 32), static_cast<uint32_t>(part)}, {});
    const size_t n_frames = SoundFrames::part_frames(rule, samples.size(), part);
    medium.n_tokens = medium.n_positions = static_cast<uint32_t>(model_.n_tokens(n_frames));
    const TokenId id = media_id(medium.hash, known);
    tokens_.insert(tokens_.end(), medium.n_tokens, id);
    const auto found = store.find(id);
    if (found != store.end() && !found->second.embeddings.empty()) continue;
    known[id].hash = medium.hash;
    waiting_.push_back({id, std::move(medium), part, n_frames});
  }
  text(row.end);
  at_ = part_step_ = n_steps_ = 0;
  encoding_ = false;
  if (waiting_.empty()) return {};
  if (const Result<void> begun = frames_.start(std::move(samples)); !begun) return begun;
  n_steps_ = frames_.n_steps() + waiting_.size() * encoder_->n_steps();
  return {};
}

Result<void> SoundJob::begin_part() {
  return encoder_->start(frames_.part(waiting_[at_].part), waiting_[at_].n_frames);
}

Result<void> SoundJob::end_layers(uint32_t end) {
  part_step_ = end + 1;
  if (const Result<void> good = check_numbers(encoder_->activations(), end, false, kOfAudio); !good) return good;
  encoder_->end_layers(end);
  return {};
}

Result<bool> SoundJob::step(MediaStore& store) {
  if (at_ == waiting_.size()) return false;
  if (!encoding_) {
    const size_t first = frames_.first();
    pool_.parallel_for(frames_.last() - first, 8,
                       [&](size_t from, size_t to, size_t) { frames_.compute(first + from, first + to); });
    if (frames_.end_step()) return true;
    encoding_ = true;
    if (const Result<void> begun = begin_part(); !begun) return std::unexpected(begun.error());
    return true;
  }
  if (encoder_->step()) {
    const Result<void> good = check_numbers(encoder_->activations(), part_step_++, false, kOfAudio);
    if (!good) return std::unexpected(good.error());
    return true;
  }
  part_step_ = 0;
  Waiting& done = waiting_[at_];
  done.medium.embeddings = encoder_->take_output();
  if (const Result<void> good = check_numbers(done.medium.embeddings, 0, true, kOfAudio); !good)
    return std::unexpected(good.error());
  store[done.id] = std::move(done.medium);
  if (++at_ == waiting_.size()) return false;
  if (const Result<void> begun = begin_part(); !begun) return std::unexpected(begun.error());
  return true;
}

}  // namespace ggufscope
