// The panel Memory: computers, what a model takes, and what fits.
export const memory = {
  'The numbers of a computer leave out what the operating system, the screen and other programs take.':
    '计算机的数值已除去操作系统、屏幕和其他程序占用的内存。',
  '{gpuLayers} of {n} layer on the card, the output counted|{gpuLayers} of {n} layers on the card, the output counted':
    '显卡上 {gpuLayers} / {n} 层，含输出层',
  '{memory} of memory or more, as the browser tells': '据浏览器报告，内存至少 {memory}',
  'A page of this browser': '此浏览器的页面',
  'As many layers on the card as fit': '尽可能多的层放到显卡',
  'At most about {tokensPerSecond} tokens a second, by the speed of the memory.':
    '按内存速度估计，每秒最多约 {tokensPerSecond} 个 token。',
  'buffers of up to {buffer}, of which a shader reads up to {binding} at once. The model’s largest weights have {weights}: {verdict}. On the card, the model takes about {needed}; WebGPU does not tell how much memory the card has. The panel Run uses it if you ask for it.':
    '缓冲区最大 {buffer}，着色器一次可读 {binding}；一次读取的权重为 {weights}：{verdict}。在显卡上，模型约需 {needed}；WebGPU 不提供显卡的内存大小。如果您选择，“运行”面板会使用它。',
  'Cached keys': '缓存的键',
  'Cached values': '缓存的值',
  Computer: '计算机',
  'Computer and settings': '计算机和设置',
  'Computer memory, GiB': '系统内存，GiB',
  'Computer speed, GB/s': '系统内存速度，GB/s',
  'Desktop, 32 GiB, no graphics card': '台式机，32 GiB，无独立显卡',
  'Experts of {n} layer stay with the processor|Experts of {n} layers stay with the processor':
    '{n} 层的专家留给处理器',
  'Graphics card': '显卡',
  'Graphics card of 12 GiB': '12 GiB 显卡',
  'Graphics card of 16 GiB': '16 GiB 显卡',
  'Graphics card of 24 GiB': '24 GiB 显卡',
  'Graphics card of 32 GiB': '32 GiB 显卡',
  'Graphics card of 8 GiB': '8 GiB 显卡',
  'Graphics memory, GiB': '显存，GiB',
  'Graphics speed, GB/s': '显存速度，GB/s',
  'In this browser, on this device': '在此设备的此浏览器中',
  'it does not fit': '放不下',
  'It does not fit': '放不下',
  'it fits': '放得下',
  'It fits': '放得下',
  'It takes about {bytes} with {tokens} of context and a cache in F16. A page can have {limit}: {verdict}.':
    '上下文为 {tokens}、缓存为 F16 时约需 {bytes}。一个页面最多可用 {limit}：{verdict}。',
  'It takes about {bytes}. A page can have {limit}: {verdict}.':
    '约需 {bytes}。一个页面最多可用 {limit}：{verdict}。',
  'Laptop, 16 GiB, no graphics card': '笔记本，16 GiB，无独立显卡',
  'Longest that fits: {largestContext}': '可容纳的最长值：{largestContext}',
  'Mac, 16 GiB shared': 'Mac，16 GiB 统一内存',
  'Mac, 64 GiB shared': 'Mac，64 GiB 统一内存',
  'No context fits.': '任何上下文长度都放不下。',
  'not in this browser': '此浏览器不支持',
  'Own numbers': '自定义',
  'Run it here': '在此运行',
  'Phone, 8 GiB': '手机，8 GiB',
  'Server card of 80 GiB': '80 GiB 服务器显卡',
  'The model was trained for {n} token.|The model was trained for {n} tokens.':
    '模型训练时的上下文为 {n} 个 token。',
  'This architecture keeps no keys and values of earlier tokens.': '此架构不保存先前 token 的键和值。',
  'A page computes {n} tokens at a time, and llama.cpp 512, so that a page takes less.':
    '页面一次计算 {n} 个 token，llama.cpp 为 512 个，因此占用更少。',
  'Memory is that of llama.cpp, on all devices together.': '内存按 llama.cpp 计算，为所有设备之和。',
  'with llama.cpp': '使用 llama.cpp',
  'with llama.cpp, on both devices together': '使用 llama.cpp，两个设备合计',
  'This device': '此设备',
  'WebAssembly, 32-bit': 'WebAssembly，32 位',
  'WebAssembly, 64-bit': 'WebAssembly，64 位',
  WebGPU: 'WebGPU',
  'Weights and cache are those of llama.cpp; intermediate results are an estimate.':
    '权重和缓存与 llama.cpp 一致；中间结果为估计值。',
  'What it takes': '所需资源',
  'Numbers of the computer': '计算机的数值',
  'Cache and layers': '缓存和层',
  'Memory is in GiB of 1,024 MiB, files in GB of 1,000 MB.':
    '内存以 GiB（1,024 MiB）计，文件以 GB（1,000 MB）计。',
}
