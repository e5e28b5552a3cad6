// What an error means, and what to do.
export const errors = {
  'A count cannot be true': '某个计数不可能成立',
  'A GGUF file begins with the four letters GGUF. Check that the address or the file is the right one.':
    'GGUF 文件以 GGUF 四个字母开头。请检查地址或文件是否正确。',
  'A length cannot be true': '某个长度不可能成立',
  'A part of this page could not be loaded': '本页的一部分无法加载',
  'A part of this page could not be loaded.': '本页的一部分无法加载。',
  'A part of this split model is missing': '这个分片模型缺少一部分',
  'A size is too large to be true': '某个大小过大，不可能成立',
  'A tensor has an impossible shape': '某个张量的形状不可能成立',
  'A value has a type that does not exist': '某个值的类型不存在',
  'Arrays are nested too deeply': '数组嵌套过深',
  'Check the address and the connection. If the address opens elsewhere, the server may not let other pages read it (CORS): download the file and drop it here.':
    '请检查地址和网络连接。如果该地址在别处能打开，可能是服务器不允许其他网页读取（CORS）：请下载文件后拖放到这里。',
  'Check the address, or try again later.': '请检查地址，或稍后再试。',
  'Check the address. If it opens elsewhere, the server does not let other pages read its files (CORS): download the file and drop it here.':
    '请检查地址。如果在别处能打开，则服务器不允许其他页面读取其文件（CORS）：请下载文件并拖放到这里。',
  'Check the connection and try again. If that does not help, load the page again.':
    '请检查网络连接后重试。如果仍不行，请重新加载本页。',
  'Check the name.': '请检查名称。',
  'Check the owner and the name. If the repository is private or gated, give an access token below.':
    '请检查所有者和名称。如果仓库是私有的或需要授权，请在下方填写访问令牌。',
  'Check the owner and the name. It may have been renamed or removed, be private, or lack the revision of the address.':
    '请检查所有者和名称。仓库可能已改名、已删除或是私有的，也可能没有地址中的修订版本。',
  'Choose another name, or allow that the file is replaced.': '请换一个名称，或允许替换该文件。',
  'Choose another name, or remove the one that has it.': '请换一个名称，或移除已使用该名称的项。',
  'Choose or drop all parts together, or open what is there.':
    '请一次选择或拖放所有分片，或只打开现有的部分。',
  'Close other tabs and try again. If the header should be small, the file is damaged.':
    '请关闭其他标签页后重试。如果文件头本应很小，则文件已损坏。',
  'Give an address that begins with http:// or https://, or hf:owner/repository/file.gguf.':
    '请输入以 http:// 或 https:// 开头的地址，或 hf:owner/repository/file.gguf。',
  'Give the address of the file itself: on model hubs that of the download button (“resolve” instead of “blob”).':
    '请输入文件本身的地址：在模型站上即下载按钮的地址（用“resolve”而不是“blob”）。',
  'It holds a model in another format. Look for a GGUF version, or convert it with llama.cpp.':
    '它包含其他格式的模型。请寻找 GGUF 版本，或用 llama.cpp 转换。',
  'It is cut off: an interrupted download or upload. Download it again and compare its size with the original.':
    '文件被截断：下载或上传曾中断。请重新下载，并与原文件比较大小。',
  'It is not in this file': '此文件中没有该项',
  'It is not valid, or it refuses these messages on purpose: its own message is shown with it.':
    '它无效，或有意拒绝这些消息：其自身的消息会一并显示。',
  'It may have been moved or renamed, or belong to another revision.':
    '文件可能已被移动或重命名，或属于其他修订版本。',
  'It took more steps or made more text than any normal template. It may be malicious.':
    '它执行的步骤或生成的文本超过任何正常模板，可能是恶意的。',
  'It was made to mislead, or is damaged. Do not trust it.': '它可能有意误导，或已损坏。请不要信任它。',
  'It was removed. Load it again.': '它已被删除。请重新加载。',
  'It was written before GGUF (GGML, GGMF or GGJT). Look for a newer version of the model.':
    '它早于 GGUF（GGML、GGMF 或 GGJT）。请寻找该模型的较新版本。',
  'Its responses do not have the header Access-Control-Allow-Origin. Download the file and drop it here, or ask the server for that header.':
    '其响应没有 Access-Control-Allow-Origin 标头。请下载文件后拖放到这里，或请求服务器方添加该标头。',
  'Load the model again. If memory was short, choose a shorter context or a smaller model.':
    '请重新加载模型。如果内存不足，请选择更短的上下文或更小的模型。',
  'Load this page again. WebAssembly may be switched off, or blocked by an extension.':
    '请重新加载页面。WebAssembly 可能已关闭，或被扩展程序阻止。',
  'Not all of the header was read': '文件头未完整读取',
  'Open it again to see the new one.': '请重新打开以查看新文件。',
  'Open it again.': '请重新打开。',
  'Open the file again.': '请重新打开文件。',
  'Reading a part would fetch far too much. Download the file and drop it here.':
    '读取一部分会传输过多数据。请下载文件后拖放到这里。',
  'Remove stored models, free space on the disk, or run the model without storing it.':
    '请删除已保存的模型、释放磁盘空间，或不保存直接运行模型。',
  'Search the hub for “{words}”': '在 Hub 上搜索“{words}”',
  'Settings and indexes of a model lie beside it as JSON. Choose the file that ends in .gguf.':
    '模型的设置和索引以 JSON 形式放在旁边。请选择以 .gguf 结尾的文件。',
  'Several retries failed. Try again later.': '多次重试失败。请稍后再试。',
  'Something lies outside the file': '有内容超出文件范围',
  'Something went wrong here': '这里出错了',
  'Such files can hold programs: open only those you trust. Look for a GGUF version, or convert it with llama.cpp.':
    '这类文件可能包含程序：只打开您信任的文件。请寻找 GGUF 版本，或用 llama.cpp 转换。',
  'Take another copy of the source, or a type that can hold such values: BF16 or F32.':
    '请换一份源文件，或使用能容纳这些值的类型：BF16 或 F32。',
  'The alignment is not valid': '对齐值无效',
  'The browser has no room for this file': '浏览器没有空间存放此文件',
  'The chat template does not work': '聊天模板无法工作',
  'The chat template was stopped': '聊天模板已被终止',
  'The connection was lost': '连接已断开',
  'The download is damaged': '下载的文件已损坏',
  'The fault is the server’s. Try again in a few minutes.': '问题出在服务器。请几分钟后再试。',
  'No graphics card can run this model': '没有显卡可以运行此模型',
  'Run it on the CPU, or switch on WebGPU in the settings of the browser.':
    '请在 CPU 上运行，或在浏览器设置中启用 WebGPU。',
  'The graphics card failed': '显卡出现故障',
  'Load the model again. If the card has little memory, close other pages that use it, or run the model on the CPU.':
    '请重新加载模型。如果显存不足，请关闭其他使用显卡的页面，或在 CPU 上运行模型。',
  'Another tab ran the engine, and ended': '运行引擎的另一个标签页已结束',
  'Do it again: the engine starts in this tab or another.': '请重试：引擎会在此标签页或另一个标签页中启动。',
  'The engine crashed': '引擎已崩溃',
  'The server does not accept the access token': '服务器不接受此访问令牌',
  'It may have expired, or lack the right to read this repository. Check it, or ask for access on the page of the repository.':
    '令牌可能已过期，或者没有读取此仓库的权限。请检查令牌，或在仓库页面申请访问。',
  'The file ends too early': '文件过早结束',
  'The file is damaged or was not written as GGUF demands. Download it again, or ask where it came from.':
    '文件已损坏，或不符合 GGUF 的要求。请重新下载，或询问其来源。',
  'The file is not what its preview showed': '文件与其预览不一致',
  'The file is opened as soon as there is a connection again. Kept models and files of this computer open without one.':
    '恢复连接后将打开此文件。已保存的模型和本机文件无需连接即可打开。',
  'The file is private or gated. Give an access token below, or download it with your account and drop it here.':
    '文件是私有的或需要授权。请在下方填写访问令牌，或用您的账号下载后拖放到这里。',
  'The file is private or gated. Download it with your account, and drop it here.':
    '文件是私有的或需要授权。请用您的账号下载后拖放到这里。',
  'The file may have become shorter. Try again.': '文件可能变短了。请重试。',
  'The file uses something that this version does not support.': '文件使用了此版本不支持的内容。',
  'The model has a tensor that is not computed here': '模型有一个此处不计算的张量',
  'Its architecture may be newer than this version, or was changed. Another program may run it.':
    '其架构可能比此版本更新，或经过修改。其他程序或许能运行它。',
  'The projector belongs to another model': '投影器属于另一个模型',
  'Choose the projector that was made for this model: it lies beside it.':
    '请选择为此模型制作的投影器：它与模型在同一处。',
  'The file was closed': '文件已关闭',
  'The file was replaced while it was read': '文件在读取过程中被替换',
  'The header does not fit into memory': '文件头超出内存',
  'The original models are often in other formats. Search for a repository that has them as GGUF.':
    '原始模型通常采用其他格式。请搜索提供 GGUF 版本的仓库。',
  'The reader could not be loaded': '读取模块无法加载',
  'The server answers with an error': '服务器返回错误',
  'The server asks for a pause. Wait a minute and try again.': '服务器要求暂停请求。请等一分钟再试。',
  'The server cannot be reached': '无法连接服务器',
  'The server cannot be reached, or does not let this page read its files':
    '无法连接服务器，或服务器不允许此页面读取其文件',
  'The server does not let this page read the file': '服务器不允许此页面读取该文件',
  'The server has a problem': '服务器出现问题',
  'The server has no such range': '服务器没有该范围',
  'The server keeps the real file in Git LFS. Use the download address (“resolve” or “media” instead of “raw”).':
    '服务器用 Git LFS 保存真正的文件。请使用下载地址（“resolve”或“media”，而不是“raw”）。',
  'The server refuses the file': '服务器拒绝提供该文件',
  'The server sends whole files only': '服务器只能发送整个文件',
  'The server wants a sign-in': '服务器要求登录',
  'The weights or the importance matrix contain unusable numbers': '权重或重要性矩阵包含不可用的数值',
  'There are two of that name': '存在两个同名项',
  'There is a file of that name already': '已有同名文件',
  'The hub has no such repository': 'Hub 上没有这个仓库',
  'There is no such file': '没有这个文件',
  'This repository has no GGUF files': '此仓库中没有 GGUF 文件',
  'This address cannot be used': '无法使用此地址',
  'This address leads to a web page': '此地址指向一个网页',
  'This file is a web page, not a model': '此文件是网页，不是模型',
  'The download saved a page of the site, perhaps its sign-in. Download the file again, with the download button.':
    '下载时保存的是网站的一个页面，可能是登录页。请用下载按钮重新下载该文件。',
  'The file is empty': '文件为空',
  'Its download or copy did not begin. Download it again.': '下载或复制没有开始。请重新下载。',
  'This cannot be read here': '此处无法读取',
  'This device is offline': '此设备处于离线状态',
  'This is a fault of the viewer. Try again, and report it with the text below.':
    '这是查看器的错误。请重试，并附上下方文字进行反馈。',
  'This is a JSON file, not a model': '这是 JSON 文件，不是模型',
  'This is a pointer to the file': '这只是指向文件的指针',
  'This is a PyTorch checkpoint': '这是 PyTorch 检查点',
  'This is a safetensors file': '这是 safetensors 文件',
  'This is an archive': '这是压缩包',
  'This is an older format of the same family': '这是同一系列的旧格式',
  'This is not a GGUF file': '这不是 GGUF 文件',
  'This version of GGUF is not known': '未知的 GGUF 版本',
  'Too many requests': '请求过多',
  'If it holds a GGUF file, unpack it and open that. A PyTorch checkpoint holds none: look for a GGUF version, or convert it with llama.cpp.':
    '如果其中有 GGUF 文件，请解压后打开该文件。PyTorch 检查点里没有：请查找 GGUF 版本，或用 llama.cpp 转换。',
  'Versions 1 to 3 can be read, of either byte order. The version field of this file says something else.':
    '可读取版本 1 到 3，两种字节序均可。此文件的版本字段是其他值。',
  'You may have to accept its terms first, or the link has expired. Or download it and drop it here.':
    '您可能需要先接受其条款，或链接已过期。也可以下载文件后拖放到这里。',
  'This device is offline. It goes on when the connection is back.': '此设备处于离线状态。连接恢复后会继续。',
  'This device is offline.': '此设备处于离线状态。',
  'This looks like an importance matrix, not a model': '这看起来是重要性矩阵，不是模型',
  'Open the model that it belongs to. Convert takes the matrix to quantize it.':
    '请打开它所属的模型。“转换”用此矩阵量化模型。',
  'This looks like an image, not a model': '这看起来是图像，不是模型',
  'Open a model that reads images. Run takes the image with a message.':
    '请打开能读取图像的模型。“运行”可随消息附上图像。',
  'This looks like a recording, not a model': '这看起来是录音，不是模型',
  'Open a speech model. Transcribe takes the recording.': '请打开语音模型。“语音转写”可处理录音。',
  'This file was not written as a whole': '此文件没有完整写入',
  'It begins with zeros: its download or copy was interrupted. Download it again.':
    '它以零开头：下载或复制被中断。请重新下载。',
  'This is an ONNX model': '这是 ONNX 模型',
  'It holds a model in another format. Look for a GGUF version of the model.':
    '它以另一种格式保存模型。请寻找该模型的 GGUF 版本。',
  'This is a model of TensorFlow or Keras': '这是 TensorFlow 或 Keras 的模型',
  'This is an array of NumPy, not a model': '这是 NumPy 数组，不是模型',
  'Choose the file that ends in .gguf.': '请选择以 .gguf 结尾的文件。',
  'This is a drawing (SVG), not a model': '这是矢量图 (SVG)，不是模型',
  'This is a video, not a model': '这是视频，不是模型',
  'This is a document, not a model': '这是文档，不是模型',
  'This is a program, not a model': '这是程序，不是模型',
  'This is an XML file, not a model': '这是 XML 文件，不是模型',
  'This is a text, not a model': '这是文本，不是模型',
}
