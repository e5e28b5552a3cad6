// The functions of the registry's rows, by family in the files beside this one, and what they share.
#pragma once

#include "vision/projector_input.hpp"

namespace ggufscope {

/// Sets the pixel limits from limits in tokens.
void limit_tokens(VisionParameters& p, uint64_t min, uint64_t max);
/// Reads optional pixel limits.
void read_pixel_bounds(VisionParameters& p, Keys& keys);
/// The same, but both limits must be there.
void require_pixel_bounds(VisionParameters& p, Keys& keys);
/// One image whose size is fitted to the limits.
void fit_image(VisionParameters& p, ResampleFilter filter);
/// Refuses a fixed size that is not a multiple of a token.
void require_whole_tokens(const VisionParameters& p, Keys& keys);
/// The patches that LLaVA's projector reads. libmtmd puts the class token last but leaves out the first row. So does
/// this function.
[[nodiscard]] const float* first_patch(const ProjectorInput& j);
/// The patches of each token are concatenated, normalized and adapted.
void project_merged(ProjectorInput& j);
/// Transposes merged [n_tokens, n_places, n_embd] to [n_tokens, n_embd, n_places], the layout of a convolution kernel.
void channels_first(const float* merged, size_t n_tokens, size_t n_places, size_t n_embd, float* to);

void read_mlp(VisionParameters& p, Keys& keys);
void plan_mlp(VisionPlan& plan);
void project_mlp(ProjectorInput& j);

void read_ldp(VisionParameters& p, Keys& keys);
void plan_ldp(VisionPlan& plan);
void project_ldp(ProjectorInput& j);
void plan_ldpv2(VisionPlan& plan);
void project_ldpv2(ProjectorInput& j);

void read_gemma3(VisionParameters& p, Keys& keys);
void plan_gemma3(VisionPlan& plan);
void project_gemma3(ProjectorInput& j);

void read_idefics3(VisionParameters& p, Keys& keys);
void plan_idefics3(VisionPlan& plan);
void project_idefics3(ProjectorInput& j);

void read_lfm2(VisionParameters& p, Keys& keys);
void plan_lfm2(VisionPlan& plan);

void read_internvl(VisionParameters& p, Keys& keys);
void plan_internvl(VisionPlan& plan);

void read_qwen2vl(VisionParameters& p, Keys& keys);
void read_qwen25vl(VisionParameters& p, Keys& keys);
void plan_qwen2vl(VisionPlan& plan);
void plan_qwen3vl(VisionPlan& plan);
void plan_ling3vl(VisionPlan& plan);

void read_resampler(VisionParameters& p, Keys& keys);
void plan_resampler(VisionPlan& plan);
void project_resampler(ProjectorInput& j);
void read_minicpmv46(VisionParameters& p, Keys& keys);
void plan_minicpmv46(VisionPlan& plan);
void project_minicpmv46(ProjectorInput& j);

void read_gemma3nv(VisionParameters& p, Keys& keys);

void read_gemma4v(VisionParameters& p, Keys& keys);
void plan_gemma4v(VisionPlan& plan);
void project_gemma4v(ProjectorInput& j);
void read_gemma4uv(VisionParameters& p, Keys& keys);
void plan_gemma4uv(VisionPlan& plan);
void project_gemma4uv(ProjectorInput& j);

void read_pixtral(VisionParameters& p, Keys& keys);
void plan_pixtral(VisionPlan& plan);
void project_pixtral(ProjectorInput& j);

void read_kimivl(VisionParameters& p, Keys& keys);
void read_kimik25(VisionParameters& p, Keys& keys);
void plan_kimivl(VisionPlan& plan);
void plan_kimik25(VisionPlan& plan);

void read_llama4(VisionParameters& p, Keys& keys);
void plan_llama4(VisionPlan& plan);
void project_llama4(ProjectorInput& j);

void read_glm4v(VisionParameters& p, Keys& keys);
void plan_glm4v(VisionPlan& plan);
void project_glm4v(ProjectorInput& j);
void plan_cogvlm(VisionPlan& plan);
void project_cogvlm(ProjectorInput& j);

void read_exaone(VisionParameters& p, Keys& keys);
void read_mimovl(VisionParameters& p, Keys& keys);
void plan_mimovl(VisionPlan& plan);
void read_youtuvl(VisionParameters& p, Keys& keys);
void plan_youtuvl(VisionPlan& plan);

void read_dots_ocr(VisionParameters& p, Keys& keys);
void plan_dots_ocr(VisionPlan& plan);
void read_paddleocr(VisionParameters& p, Keys& keys);
void plan_paddleocr(VisionPlan& plan);
void read_lightonocr(VisionParameters& p, Keys& keys);

void read_nemotron(VisionParameters& p, Keys& keys);
void plan_nemotron(VisionPlan& plan);
void read_janus(VisionParameters& p, Keys& keys);
void plan_janus(VisionPlan& plan);
void read_phi4(VisionParameters& p, Keys& keys);
void read_cohere2v(VisionParameters& p, Keys& keys);
void plan_cohere2v(VisionPlan& plan);
void project_cohere2v(ProjectorInput& j);

}  // namespace ggufscope
