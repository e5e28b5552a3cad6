// What the package says, in German: errors of tokenizers, media, speech and graphics cards. The English text is the key; see de.ts.
export default {
  'tokenizer.ggml.merges is missing: words fall into bytes':
    'tokenizer.ggml.merges fehlt: Wörter zerfallen in Byte',
  'tokenizer.ggml.merges is no array of strings: it is ignored':
    'tokenizer.ggml.merges ist kein Array von Texten: Es wird ignoriert',
  'tokenizer.ggml.merges is too long: it is ignored': 'tokenizer.ggml.merges ist zu lang: Es wird ignoriert',
  '{} merges do not name two parts': '{0} Merges nennen keine zwei Teile',
  '{} merges name texts that are no tokens': '{0} Merges nennen Texte, die keine Token sind',
  '{#byte has/bytes have} no token': '{0} Byte {0#hat/haben} kein Token',
  'no line of a token': 'keine Zeile eines Tokens',
  'unknown escape': 'unbekannte Escape-Folge',
  'a token is not as long as its line says': 'Ein Token ist nicht so lang, wie seine Zeile sagt',
  '{} {~}: texts are not normalized': '{0} {1}: Texte werden nicht normalisiert',
  'is no array of bytes': 'ist kein Array von Byte',
  'is too short': 'ist zu kurz',
  'announces more than it holds': 'kündigt mehr an, als es enthält',
  'no string at byte {} in {}': 'Kein Text bei Byte {0} in {1}',
  '{~} at byte {} in {}': '{0} bei Byte {1} in {2}',
  "a token's id does not follow the one before": 'Die Nummer eines Tokens folgt nicht auf die vorige',
  'the file has no tokens: tokenizer.ggml.tokens is missing':
    'Die Datei hat keine Token: tokenizer.ggml.tokens fehlt',
  'no array of strings at byte {} in tokenizer.ggml.tokens':
    'Kein Array von Texten bei Byte {0} in tokenizer.ggml.tokens',
  'too many tokens at byte {} in tokenizer.ggml.tokens':
    'Zu viele Token bei Byte {0} in tokenizer.ggml.tokens',
  '{#token has/tokens have} the text of another, token {} first: the lower id is used':
    '{0#Token hat/Token haben} den Text eines anderen, zuerst Token {1}: Die niedrigere Nummer gilt',
  'tokenizer.ggml.scores is no array of numbers: every score is 0':
    'tokenizer.ggml.scores ist kein Array von Zahlen: Jede Wertung ist 0',
  'there are fewer scores than tokens: the others are 0':
    'Es gibt weniger Wertungen als Token: Die übrigen sind 0',
  'tokenizer.ggml.token_type is no array of integers: it is ignored':
    'tokenizer.ggml.token_type ist kein Array ganzer Zahlen: Es wird ignoriert',
  'there are fewer token types than tokens: the others are normal':
    'Es gibt weniger Tokentypen als Token: Die übrigen sind normal',
  '{} names no token: it is ignored': '{0} nennt kein Token: Es wird ignoriert',
  '{} is to be added to texts, but no token has that role':
    '{0} soll zu Texten hinzukommen, aber kein Token hat diese Rolle',
  '{} byte tokens are not spelled <0x00> to <0xFF>':
    '{0} Byte-Token sind nicht <0x00> bis <0xFF> geschrieben',
  'the file has no tokenizer: tokenizer.ggml.model is missing':
    'Die Datei hat keinen Tokenizer: tokenizer.ggml.model fehlt',
  'the tokenizer is of an unknown kind: {}': 'Der Tokenizer ist von unbekannter Art: {0}',
  'tokenizer.ggml.pre is missing: texts are cut as llama.cpp does by default':
    'tokenizer.ggml.pre fehlt: Texte werden zerlegt, wie llama.cpp es sonst tut',
  'tokenizer.ggml.pre is "{}", which is not known: texts are cut as llama.cpp does by default':
    'tokenizer.ggml.pre ist „{0}“, was nicht bekannt ist: Texte werden zerlegt, wie llama.cpp es sonst tut',
  '{} is not an array of a layer and a head for each of 1 to {#head}':
    '{0} ist kein Array aus je einer Schicht und einem Kopf für jeden von 1 bis {1#Kopf/Köpfen}',
  '{} names head {} of layer {}; the decoder has {#layer} of {#head}':
    '{0} nennt Kopf {1} von Schicht {2}; der Decoder hat {3#Schicht/Schichten} zu {4#Kopf/Köpfen}',
  'cannot allocate an audio encoder': 'Für einen Audio-Encoder ist kein Speicher da',
  "the audio projector's embeddings have {} elements, but the model's have {}: they do not belong together":
    'Die Embeddings des Audio-Projektors haben {0} Elemente, die des Modells {1}: Sie gehören nicht zusammen',
  'tensor mm.a.mlp.1.weight has {#row}, which is no gate and as many values':
    'Tensor mm.a.mlp.1.weight hat {0#Zeile/Zeilen}: kein Gatter und ebenso viele Werte',
  'clip.audio.attention.layer_norm_epsilon is missing': 'clip.audio.attention.layer_norm_epsilon fehlt',
  'clip.audio.attention.head_count is {}, which does not share out {}':
    'clip.audio.attention.head_count ist {0}, was {1} nicht aufteilt',
  'clip.audio.subsampling_factor is {}, and the convolutions shorten audio by 8':
    'clip.audio.subsampling_factor ist {0}, und die Faltungen kürzen den Ton auf ein Achtel',
  'clip.audio.conv_kernel_size is even': 'clip.audio.conv_kernel_size ist gerade',
  'clip.audio.num_mel_bins, conv_kernel_size, max_pos_emb, projector.downsample_rate or projector.head_count does not fit the other sizes':
    'clip.audio.num_mel_bins, conv_kernel_size, max_pos_emb, projector.downsample_rate oder projector.head_count passt nicht zu den anderen Größen',
  'clip.audio.rvq.codebook_size has not one number for each of rvq.num_quantizers':
    'clip.audio.rvq.codebook_size hat nicht je eine Zahl für rvq.num_quantizers',
  'clip.audio.wa_pattern_mode has not one number for each of at least 3 blocks':
    'clip.audio.wa_pattern_mode hat nicht je eine Zahl für mindestens 3 Blöcke',
  'tensor {} has {#row} for {#code}': 'Tensor {0} hat {1#Zeile/Zeilen} für {2#Code/Codes}',
  'no language "{}"': 'Es gibt keine Sprache „{0}“',
  'this model does not know the language "{}"': 'Dieses Modell kennt die Sprache „{0}“ nicht',
  'an audio context of {}; the model has {}': 'ein Audio-Kontext von {0}; das Modell hat {1}',
  'at most 8 sequences are decoded side by side': 'Höchstens 8 Sequenzen werden nebeneinander dekodiert',
  'a temperature below 0': 'eine Temperatur unter 0',
  'a silence threshold below 0': 'eine Stille-Schwelle unter 0',
  'tensor {} has an impossible shape': 'Tensor {0} hat eine unmögliche Form',
  '{}embedding_length is {}, which {#head} cannot share':
    '{0}embedding_length ist {1}, was sich {2#Kopf/Köpfe} nicht teilen können',
  'the keys name more layers than the file has tensors':
    'Die Schlüssel nennen mehr Schichten, als die Datei Tensoren hat',
  'whisper.mel_filters has {#number}, {#mel} of 201 bins have {}':
    'whisper.mel_filters hat {0#Zahl/Zahlen}, {1#Mel-Band/Mel-Bänder} zu 201 Werten haben {2}',
  'a spectrogram of {#value} for {} frames of output':
    'ein Spektrogramm von {0#Wert/Werten} für {1} Frames Ausgabe',
  "a speech model's cache must be f32 or f16":
    'Der Cache eines Modells für Spracherkennung muss f32 oder f16 sein',
  'no audio was encoded': 'Es wurde kein Ton kodiert',
  "a token's position is beyond the context": 'Die Position eines Tokens liegt außerhalb des Kontexts',
  '{#token} are not a Whisper vocabulary': '{0#Token/Token} sind kein Whisper-Vokabular',
  'a vocabulary of {#word}': 'ein Vokabular von {0#Wort/Wörtern}',
  'an image of {#patch/patches} cannot be encoded':
    'Ein Bild von {0#Patch/Patches} kann nicht kodiert werden',
  'the projector has no position embeddings for {#patch/patches}':
    'Der Projektor hat keine Positions-Embeddings für {0#Patch/Patches}',
  'tensor v.blk.0.0.conv_exp.weight is missing': 'Tensor v.blk.0.0.conv_exp.weight fehlt',
  'the attention of {} has parts that do not fit together':
    'Die Attention von {0} hat Teile, die nicht zusammenpassen',
  'the maps of the last two stages do not fit together':
    'Die Karten der letzten zwei Stufen passen nicht zusammen',
  'the network gives {} tokens of {} elements instead of {} of {}':
    'Das Netz gibt {0} Token von {1} Elementen statt {2} von {3}',
  '{} is no three numbers': '{0} sind keine drei Zahlen',
  'clip.use_gelu and clip.use_silu exclude each other': 'clip.use_gelu und clip.use_silu schließen sich aus',
  'clip.vision.image_grid_pinpoints holds a size that is no whole tile':
    'clip.vision.image_grid_pinpoints enthält eine Größe, die keine ganze Kachel ist',
  'clip.vision.{} is missing': 'clip.vision.{0} fehlt',
  'clip.vision.attention.head_count is {}, which does not share out {}':
    'clip.vision.attention.head_count ist {0}, was {1} nicht aufteilt',
  'clip.vision.feature_layer holds {}, and there are {} layers':
    'clip.vision.feature_layer enthält {0}, und es gibt {1} Schichten',
  'patches cannot be merged {} to a side': 'Patches können nicht zu {0} je Seite verschmolzen werden',
  'clip.vision.image_max_pixels is less than image_min_pixels':
    'clip.vision.image_max_pixels ist weniger als image_min_pixels',
  'clip.vision.image_size is less than a patch': 'clip.vision.image_size ist kleiner als ein Patch',
  'clip.vision.preproc_image_size is missing': 'clip.vision.preproc_image_size fehlt',
  'clip.vision.attention.layer_norm_epsilon is missing': 'clip.vision.attention.layer_norm_epsilon fehlt',
  'this projector has no image encoder': 'Dieser Projektor hat keinen Bild-Encoder',
  'cannot allocate an image encoder': 'Für einen Bild-Encoder ist kein Speicher da',
  "the projector's embeddings have {} elements, but the model's have {}: they do not belong together":
    'Die Embeddings des Projektors haben {0} Elemente, die des Modells {1}: Sie gehören nicht zusammen',
  'clip.vision.image_size is not a multiple of a token':
    'clip.vision.image_size ist kein Vielfaches eines Tokens',
  'heads of {} elements have no quarters': 'Köpfe von {0} Elementen haben keine Viertel',
  'clip.minicpmv_version is {}, and the known ones are 2 to 6 and 100045':
    'clip.minicpmv_version ist {0}, bekannt sind 2 bis 6 und 100045',
  'tensor resampler.proj.weight has {#row}, which are no heads of 128':
    'Tensor resampler.proj.weight hat {0#Zeile/Zeilen}, was keine Köpfe von 128 sind',
  'tensor resampler.pos_embed_k is missing': 'Tensor resampler.pos_embed_k fehlt',
  'clip.vision.projector.scale_factor is neither 2 nor 4':
    'clip.vision.projector.scale_factor ist weder 2 noch 4',
  'clip.vision.wa_layer_indexes holds no layer': 'clip.vision.wa_layer_indexes enthält keine Schicht',
  'tensor v.vit_merger.ds_ffn_down.weight does not lead back to {} elements':
    'Tensor v.vit_merger.ds_ffn_down.weight führt nicht zu {0} Elementen zurück',
  'clip.vision.preproc_image_size is missing, and image_size is 0':
    'clip.vision.preproc_image_size fehlt, und image_size ist 0',
  'clip.vision.wa_pattern_mode does not have a number for each layer':
    'clip.vision.wa_pattern_mode hat nicht für jede Schicht eine Zahl',
  'clip.vision.spatial_merge_size is not 2': 'clip.vision.spatial_merge_size ist nicht 2',
  'clip.vision.wa_layer_indexes is missing': 'clip.vision.wa_layer_indexes fehlt',
  'clip.vision.preproc_min_tiles is out of range':
    'clip.vision.preproc_min_tiles liegt außerhalb des Bereichs',
  'an image of {} x {} {~}': 'Ein Bild von {0} x {1} {2}',
  'has none': 'hat keine',
  'has more than the {} that are taken': 'hat mehr als die {0}, die angenommen werden',
  'more samples than were announced': 'Mehr Abtastwerte als angekündigt',
  'the audio has more than 2^31 samples; split it into parts':
    'Die Tonaufnahme hat mehr als 2^31 Abtastwerte; zerlegen Sie sie',
  'a sampling rate of {} Hz: audio has from {} to {}': 'eine Abtastrate von {0} Hz: Ton hat {1} bis {2}',
  'the audio is too long at the new rate': 'Die Tonaufnahme ist bei der neuen Rate zu lang',
  "the projector's keys resize this image to less than one patch of {} pixels":
    'Nach den Schlüsseln des Projektors wird dieses Bild kleiner als ein Patch von {0} Pixeln',
  "the projector's keys resize this image to more pixels than are supported":
    'Nach den Schlüsseln des Projektors bekommt dieses Bild mehr Pixel, als unterstützt werden',
  'tensor {}0.attn_q.weight has {#row}, no {#head} of even length':
    'Tensor {0}0.attn_q.weight hat {1#Zeile/Zeilen}, nicht {2#Kopf/Köpfe} gerader Länge',
  'tensor {}input_proj.weight is too large': 'Tensor {0}input_proj.weight ist zu groß',
  'tensor a.gen.wav.quant_out.weight has too many rows':
    'Tensor a.gen.wav.quant_out.weight hat zu viele Zeilen',
  'tensor a.gen.wav.seanet.conv_out.weight has {#channel}, not 1':
    'Tensor a.gen.wav.seanet.conv_out.weight hat {0#Kanal/Kanäle}, nicht 1',
  'a recording of a voice has no samples': 'Die Aufnahme einer Stimme hat keine Abtastwerte',
  'a recording of a voice needs {} hundredths of a second, but this one has {}':
    'Die Aufnahme einer Stimme braucht {0} Hundertstelsekunden, diese hat {1}',
  'a recording of a voice may have {} seconds, but this one has {}':
    'Die Aufnahme einer Stimme darf {0} Sekunden haben, diese hat {1}',
  'the kernels of {}blk.* give too many samples for a frame':
    'Die Kerne von {0}blk.* geben zu viele Abtastwerte für einen Frame',
  'the pipeline of speech {} needs a text model of {}, not {}':
    'Die Sprachpipeline {0} braucht ein Textmodell von {1}, nicht {2}',
  'the encoder of voices {} does not belong to the pipeline {}':
    'Der Encoder der Stimmen {0} gehört nicht zur Pipeline {1}',
  'cannot allocate a pipeline of speech': 'Für eine Sprachpipeline ist kein Speicher da',
  "the pipeline of speech reads states of {} elements, but the model's have {}: they do not belong together":
    'Die Sprachpipeline liest Zustände von {0} Elementen, die des Modells haben {1}: Sie gehören nicht zusammen',
  'tensor {} is too large for a kernel of a convolution': 'Tensor {0} ist für den Kern einer Faltung zu groß',
  'tensor {} has a kernel of {}, which is no even number':
    'Tensor {0} hat einen Kern von {1}, keiner geraden Zahl',
  'tensor {} has another shape than its transposed convolution':
    'Tensor {0} hat eine andere Form als seine transponierte Faltung',
  'the adapter is closed': 'Der Adapter ist geschlossen',
  'a speech model caches keys and values in one type':
    'Ein Modell für Spracherkennung speichert Keys und Values in einem Typ',
  'a number past 2^53 at byte {} in tensor {}': 'Eine Zahl über 2^53 bei Byte {0} in Tensor {1}',
  'an unregistered type': 'ein nicht registrierter Typ',
  'a vector of the model is in no tensor': 'Ein Vektor des Modells ist in keinem Tensor',
  'matrices that are read together have {#byte}, more than the device binds':
    'Matrizen, die zusammen gelesen werden, haben {0} Byte, mehr als die Grafikkarte bindet',
  'a matrix of the model is in no tensor': 'Eine Matrix des Modells ist in keinem Tensor',
  'tensor {} has type {}, for which there are no kernels':
    'Tensor {0} hat den Typ {1}, für den es keine Kernel gibt',
  'tensor {} is big-endian': 'Tensor {0} ist big-endian',
  'tensor {} has rows of {#element}, no multiple of {}':
    'Tensor {0} hat Zeilen von {1#Element/Elementen}, kein Vielfaches von {2}',
  'the activations of a batch have {#byte}, more than the device binds':
    'Die Aktivierungen eines Stapels haben {0} Byte, mehr als die Grafikkarte bindet',
  'the cache of a layer has {#byte}, more than the device binds':
    'Der Cache einer Schicht hat {0} Byte, mehr als die Grafikkarte bindet',
  'the states of a layer have {#byte}, more than the device binds':
    'Die Zustände einer Schicht haben {0} Byte, mehr als die Grafikkarte bindet',
  'vectors or the record of a pass have {#byte}, more than the device binds':
    'Vektoren oder die Daten eines Durchgangs haben {0} Byte, mehr als die Grafikkarte bindet',
  'experts read a sum that no router computed': 'Experten lesen eine Summe, die kein Router berechnet hat',
  'it is the decoder of a codec': 'Es ist der Decoder eines Codecs',
  'it is a draft model that reads hidden states': 'Es ist ein Entwurfsmodell, das verborgene Zustände liest',
  'it has a decision head': 'Es hat einen Entscheidungskopf',
  'it has several residual streams': 'Es hat mehrere Residualströme',
  'two stacks of layers run alternately': 'Zwei Stapel von Schichten laufen abwechselnd',
  'rows are normalized in parts': 'Zeilen werden in Teilen normiert',
  'layers have inputs of their own': 'Schichten haben eigene Eingaben',
  'it switches adapters by tokens': 'Es schaltet Adapter durch Token um',
  "layers add something else than their parts' outputs":
    'Schichten addieren anderes als die Ausgaben ihrer Teile',
  'norms of parts follow them without the residual stream':
    'Normierungen folgen auf Teile ohne den Residualstrom',
  'the stream is normalized between runs of the layers':
    'Der Strom wird zwischen den Durchläufen der Schichten normiert',
  'some tokens are never generated': 'Einige Token werden nie erzeugt',
  'the soft cap of logits is 0': 'Die weiche Grenze der Logits ist 0',
  "parts read the layer's input": 'Teile lesen die Eingabe der Schicht',
  'a control vector is active': 'Ein Steuervektor ist aktiv',
  'layers have further parts': 'Schichten haben weitere Teile',
  'outputs of layers are scaled': 'Ausgaben von Schichten werden skaliert',
  'it consists of convolutions': 'Er besteht aus Faltungen',
  'it has no layers': 'Er hat keine Schichten',
  'its layers convolve': 'Seine Schichten falten',
  'it reads rows within a layer': 'Er liest Zeilen innerhalb einer Schicht',
  'a row is the product of too many matrices': 'eine Zeile ist das Produkt zu vieler Matrizen',
  'inputs and outputs of its matrices are limited': 'Ein- und Ausgaben seiner Matrizen sind begrenzt',
  'outputs of its layers are scaled': 'Ausgaben seiner Schichten werden skaliert',
  'a recurrent mixer and a feed-forward network are parallel':
    'Ein rekurrenter Mixer und ein Feed-Forward-Netz sind parallel',
  'parallel parts have norms after them': 'Parallele Teile haben Normierungen dahinter',
  "a layer's input is added again": 'Die Eingabe einer Schicht wird noch einmal addiert',
  'a table of embeddings is larger than a binding': 'Eine Tabelle von Embeddings ist größer als eine Bindung',
  'the logits of some tokens are larger than a binding':
    'Die Logits einiger Tokens sind größer als eine Bindung',
  'the weights of attention are larger than a binding': 'Die Attention-Gewichte sind größer als eine Bindung',
  'rows of the encoder and of the decoder have different lengths':
    'Zeilen des Encoders und des Decoders haben verschiedene Längen',
  'the logits of one token are larger than a binding': 'Die Logits eines Tokens sind größer als eine Bindung',
  'experts and attention are parallel': 'Experten und Attention sind parallel',
  'the lists for few and for many tokens end differently':
    'Die Listen für wenige und für viele Token enden verschieden',
  'a norm of heads has an unknown shape': 'Eine Normierung von Köpfen hat eine unbekannte Form',
  'queries and keys have norms of different shapes': 'Queries und Keys haben Normierungen verschiedener Form',
  'the gate of attention is a softplus to the base 2':
    'Das Gatter der Attention ist ein Softplus zur Basis 2',
  'layers attend to selected positions only': 'Schichten beachten nur ausgewählte Positionen',
  'heads of {} and {} elements': 'Köpfe von {0} und {1} Elementen',
  "projections are clamped, but not the gate's": 'Projektionen werden begrenzt, die des Gatters aber nicht',
  'the cache is quantized; the kernels store f32 and f16':
    'Der Cache ist quantisiert; die Kernel speichern f32 und f16',
  'experts read a projection of the stream': 'Experten lesen eine Projektion des Stroms',
  'the sum of experts is scaled': 'Die Summe der Experten wird skaliert',
  'layers have {} experts, more than {}': 'Schichten haben {0} Experten, mehr als {1}',
  'a token has no experts': 'Ein Token hat keine Experten',
  'layers have a shared expert and a dense network':
    'Schichten haben einen geteilten Experten und ein dichtes Netz',
  'an activation function has no kernel': 'Für eine Aktivierungsfunktion gibt es keinen Kernel',
  'latent attention has a gate, or a norm of the rotated part':
    'Latente Attention hat ein Gatter oder eine Normierung des rotierten Teils',
  'latent attention and a feed-forward network are parallel':
    'Latente Attention und ein Feed-Forward-Netz sind parallel',
  'convolutions see the tokens on both sides': 'Faltungen sehen die Token auf beiden Seiten',
  'of B and C of a scan, one is normalized': 'Von B und C eines Scans ist eines normiert',
  'rows of dt, B and C have {} elements': 'Zeilen von dt, B und C haben {0} Elemente',
  'parts of {} elements are normalized': 'Teile von {0} Elementen werden normiert',
  'heads of {} elements': 'Köpfe von {0} Elementen',
  'these are not whole rows of tensor {} in steps of {}':
    'Dies sind keine ganzen Zeilen von Tensor {0} in Schritten von {1}',
  'the cells of {#token} are too scattered for one pass on the device':
    'Die Zellen von {0} Token sind für einen Durchlauf auf der Grafikkarte zu verstreut',
  '{#token is/tokens are} empty': '{0#Token ist/Token sind} leer',
  'the outputs of {} tokens are {} numbers, not {}': 'Die Ausgaben von {0} Token sind {1} Zahlen, nicht {2}',
  'the device has not computed this text': 'Die Grafikkarte hat diesen Text nicht berechnet',
  'the tensors {}conv_pw*.weight and se_conv2.weight need kernels of 1':
    'Die Tensoren {0}conv_pw*.weight und se_conv2.weight brauchen Kerne von 1',
  'the tensors {}res2.* do not share {#channel} equally':
    'Die Tensoren {0}res2.* teilen {1#Kanal/Kanäle} nicht gleichmäßig',
  'the tensors a.asp_attn.weight and mm.a.fc.weight must give {#channel} and {}':
    'Die Tensoren a.asp_attn.weight und mm.a.fc.weight müssen {0#Kanal/Kanäle} und {1} geben',
  'tensor {}codebook.weight has {#code}, but only {} have embeddings':
    'Tensor {0}codebook.weight hat {1#Code/Codes}, aber nur {2} haben Embeddings',
  'tensor {}.weight gives {#channel}, which are added to {}':
    'Tensor {0}.weight gibt {1#Kanal/Kanäle}, die zu {2} addiert werden',
  'the kernels of a.gen.wav.* give too many samples for a frame, or none':
    'Die Kerne von a.gen.wav.* geben zu viele Abtastwerte für einen Frame oder keine',
  'tensor {}tfm.in_proj.weight is too large': 'Tensor {0}tfm.in_proj.weight ist zu groß',
  'tensor {}dac.post_conv.weight has {#channel}, not 1':
    'Tensor {0}dac.post_conv.weight hat {1#Kanal/Kanäle}, nicht 1',
  'a token takes {} on the graphics card and {} on the CPU.':
    'Ein Token braucht {0} auf der Grafikkarte und {1} auf der CPU.',
  'a window of {} s takes {} on the graphics card and {} on the CPU.':
    'Ein Fenster von {0} s braucht {1} auf der Grafikkarte und {2} auf der CPU.',
  'tensor {} is {} x {}, not {} x {}': 'Tensor {0} ist {1} x {2}, nicht {3} x {4}',
  'tensor {} has {} channels, not {}, or its keys have impossible values':
    'Tensor {0} hat {1} Kanäle, nicht {2}, oder seine Schlüssel haben unmögliche Werte',
  'the convolutions of {} do not fit each other': 'Die Faltungen von {0} passen nicht zueinander',
  'the keys kokoro.duration_predictor.albert.* describe another encoder':
    'Die Schlüssel kokoro.duration_predictor.albert.* beschreiben einen anderen Encoder',
  'the LSTM {}{} has another width than its norm': 'Das LSTM {0}{1} hat eine andere Breite als seine Norm',
  'of {}f0_blocks and of n_blocks, one block each must have a pool_weight':
    'Je ein Block von {0}f0_blocks und von n_blocks muss ein pool_weight haben',
  'tensor {}.weight has a kernel of an even length': 'Tensor {0}.weight hat einen Kern gerader Länge',
  'the convolutions of {} give other rows than they read':
    'Die Faltungen von {0} geben andere Zeilen aus, als sie lesen',
  'the kernel, the bias or the keys of tensor {}.weight do not fit':
    'Kern, Bias oder Schlüssel des Tensors {0}.weight passen nicht',
  'the strides give too many samples for a frame':
    'Die Schrittweiten ergeben zu viele Abtastwerte für einen Rahmen',
  'tensor {}{}.conv_weight gives another number of channels':
    'Tensor {0}{1}.conv_weight gibt eine andere Zahl von Kanälen aus',
  'the rows of the harmonic source do not fit those of the sound':
    'Die Zeilen der harmonischen Quelle passen nicht zu denen des Klangs',
  'tensor {}conv_post_weight makes no spectra': 'Tensor {0}conv_post_weight ergibt keine Spektren',
  'the keys kokoro.decoder.generator.n_fft and hop do not fit':
    'Die Schlüssel kokoro.decoder.generator.n_fft und hop passen nicht zueinander',
  'the rows of the tensors kokoro.decoder.* do not fit each other':
    'Die Zeilen der Tensoren kokoro.decoder.* passen nicht zueinander',
  'kokoro.decoder.generator.up_sampling_factor is {}, but the strides give {}':
    'kokoro.decoder.generator.up_sampling_factor ist {0}, aber die Schrittweiten ergeben {1}',
  'the durations that the model computes are not numbers':
    'Die Dauern, die das Modell berechnet, sind keine Zahlen',
  'a part of the text takes {#frame} of sound, more than the limit of {}: cut it into sentences, or speak faster':
    'Ein Teil des Textes braucht {0#Rahmen/Rahmen} Klang, mehr als die Grenze von {1}: in Sätze teilen oder schneller sprechen',
  'tokenizer.ggml.tokens is missing: it is the alphabet': 'tokenizer.ggml.tokens fehlt: Es ist das Alphabet',
  'the alphabet has more characters than the model has embeddings':
    'Das Alphabet hat mehr Zeichen, als das Modell Einbettungen hat',
  'kokoro.voices is missing: there is no voice': 'kokoro.voices fehlt: Es gibt keine Stimme',
  'tensor {} has rows of an odd length': 'Tensor {0} hat Zeilen ungerader Länge',
  'tensor {} has rows of another length than the other voices':
    'Tensor {0} hat Zeilen anderer Länge als die anderen Stimmen',
  'this projector has no image encoder: it cannot read images':
    'Dieser Projektor hat keinen Bild-Encoder: Er kann keine Bilder lesen',
  'this projector has no audio encoder: it cannot read audio':
    'Dieser Projektor hat keinen Audio-Encoder: Er kann keine Töne lesen',
  'rows beyond the reserved room': 'Zeilen jenseits des reservierten Platzes',
  'pixels beyond the reserved room': 'Pixel jenseits des reservierten Platzes',
  'it is cut short': 'Es ist abgeschnitten',
  'its header has {}': 'Sein Kopf hat {0}',
  'it has no header or no pixels': 'Ihm fehlen Kopf oder Pixel',
  'its pixels are not compressed as they should be':
    'Seine Pixel sind nicht komprimiert, wie sie es sein sollten',
  'a line has the filter {}': 'Eine Zeile hat den Filter {0}',
  'it has no palette': 'Ihm fehlt die Palette',
  'it has colors of kind {} in {} bits': 'Es hat Farben der Art {0} in {1} Bit',
  'its interlace method is {}': 'Sein Interlace-Verfahren ist {0}',
}
