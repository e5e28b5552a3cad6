// The functions of the registry's rows, by family in the files beside this one, and what they share.
#pragma once

#include "model/rows.hpp"
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

ReadKeys read_mlp, read_ldp, read_gemma3, read_idefics3, read_lfm2, read_internvl, read_qwen2vl, read_qwen25vl,
    read_resampler, read_minicpmv46, read_gemma3nv, read_gemma4v, read_gemma4uv, read_pixtral, read_kimivl,
    read_kimik25, read_llama4, read_glm4v, read_exaone, read_mimovl, read_youtuvl, read_dots_ocr, read_paddleocr,
    read_lightonocr, read_nemotron, read_nemotron_omni, read_janus, read_phi4, read_cohere2v;
PlanWeights plan_mlp, plan_ldp, plan_ldpv2, plan_gemma3, plan_idefics3, plan_lfm2, plan_internvl, plan_qwen2vl,
    plan_qwen3vl, plan_ling3vl, plan_resampler, plan_minicpmv46, plan_gemma4v, plan_gemma4uv, plan_pixtral, plan_kimivl,
    plan_kimik25, plan_llama4, plan_glm4v, plan_cogvlm, plan_mimovl, plan_youtuvl, plan_dots_ocr, plan_paddleocr,
    plan_nemotron, plan_janus, plan_cohere2v;
Project project_mlp, project_ldp, project_ldpv2, project_gemma3, project_idefics3, project_resampler,
    project_minicpmv46, project_gemma4v, project_gemma4uv, project_pixtral, project_llama4, project_glm4v,
    project_cogvlm, project_cohere2v;

}  // namespace ggufscope
