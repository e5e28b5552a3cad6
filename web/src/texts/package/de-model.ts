// What the package says, in German: errors of loading models. The English text is the key; see de.ts.
export default {
  'cannot allocate an adapter': 'Für einen Adapter ist kein Speicher da',
  'truncated at byte {} in tensor {}': 'Abgeschnitten bei Byte {0} in Tensor {1}',
  'this is not an adapter: general.type is {}, not "adapter"':
    'Dies ist kein Adapter: general.type ist {0}, nicht „adapter“',
  'adapter.type is {}; "lora" can be applied': 'adapter.type ist {0}; angewendet werden kann „lora“',
  'the adapter is for the architecture {}, the model is of {}':
    'Der Adapter ist für die Architektur {0}, das Modell ist von {1}',
  'adapter.lora.alpha is not a finite number, or too large':
    'adapter.lora.alpha ist keine endliche Zahl oder zu groß',
  '{} must be an array of u32': '{0} muss ein Array von u32 sein',
  '{} is empty': '{0} ist leer',
  '{} names the token {}': '{0} nennt das Token {1}',
  'an adapter with invocation tokens needs a causal model':
    'Ein Adapter mit Auslöse-Token braucht ein kausales Modell',
  'tensor {} is in the file twice': 'Tensor {0} ist zweimal in der Datei',
  'the adapter changes {}, which the model does not have': 'Der Adapter ändert {0}, was das Modell nicht hat',
  "the adapter changes token_embd.weight, which is this model's output, too: llama.cpp does not support this":
    'Der Adapter ändert token_embd.weight, das auch die Ausgabe dieses Modells ist: llama.cpp unterstützt das nicht',
  'adapter.lora.alpha over the rank of {} is above {}':
    'adapter.lora.alpha durch den Rang {0} ist größer als {1}',
  "the adapter's {} {~}: lora_a {}, lora_b {}, the weight [{}, {}]":
    '{0} des Adapters {1}: lora_a {2}, lora_b {3}, das Gewicht [{4}, {5}]',
  "the adapter's {} {~}: lora_a {}, lora_b {}, the weight [{}, {}, ...]":
    '{0} des Adapters {1}: lora_a {2}, lora_b {3}, das Gewicht [{4}, {5}, …]',
  'has an impossible rank': 'hat einen unmöglichen Rang',
  'has matrices of different ranks': 'hat Matrizen mit verschiedenem Rang',
  'does not fit': 'passt nicht',
  'has a different number of matrices': 'hat eine andere Anzahl von Matrizen',
  'tensor {} has a type that is not supported': 'Tensor {0} hat einen Typ, der nicht unterstützt wird',
  'tensor {} has the type {}: weights of an adapter are no integers':
    'Tensor {0} hat den Typ {1}: Gewichte eines Adapters sind keine ganzen Zahlen',
  'tensor {} of a control vector is no direction of a layer from 1 on':
    'Tensor {0} eines Steuervektors ist keine Richtung einer Schicht ab 1',
  "tensor {} has shape {}, the model's activations have {} elements":
    'Tensor {0} hat die Form {1}, die Aktivierungen des Modells haben {2} Elemente',
  'the control vector has no direction': 'Der Steuervektor hat keine Richtung',
  'truncated at byte {} in header of an adapter': 'Abgeschnitten bei Byte {0} im Kopf eines Adapters',
  "an adapter's scale is not a finite number": 'Die Stärke eines Adapters ist keine endliche Zahl',
  "an adapter's scale, times the factors in its file, is above {}":
    'Die Stärke eines Adapters, mal die Faktoren in seiner Datei, ist größer als {0}',
  '{} has no encoder': '{0} hat keinen Encoder',
  '{#token} cannot be encoded in batches of {}':
    '{0#Token/Token} können nicht in Stapeln von {1} kodiert werden',
  'token {} is not one of {}': 'Token {0} ist keines von {1}',
  'the context is too small to encode this': 'Der Kontext ist zu klein, um dies zu kodieren',
  'tensor {}.weight is missing': 'Tensor {0}.weight fehlt',
  'tensor {}.weight has rows of {#element}, feed_forward_length is {}':
    'Tensor {0}.weight hat Zeilen von {1#Element/Elementen}, feed_forward_length ist {2}',
  'tensor {} is missing': 'Tensor {0} fehlt',
  'tensor {} without expert_count': 'Tensor {0} ohne expert_count',
  'tensor {} has rows of {#element}, expert_feed_forward_length is {}':
    'Tensor {0} hat Zeilen von {1#Element/Elementen}, expert_feed_forward_length ist {2}',
  'nothing was encoded for the decoder to attend to':
    'Es wurde nichts kodiert, das der Decoder beachten könnte',
  '{} is not a count': '{0} ist keine Anzahl',
  '{} is {}, more than {}': '{0} ist {1}, mehr als {2}',
  '{} is not a finite number': '{0} ist keine endliche Zahl',
  '{} is not a boolean': '{0} ist kein Wahrheitswert',
  '{} is not a string': '{0} ist kein Text',
  '{} has {#value} for {#layer}': '{0} hat {1#Wert/Werte} für {2#Schicht/Schichten}',
  '{} is not an array of counts': '{0} ist kein Array von Anzahlen',
  '{} is missing or no array': '{0} fehlt oder ist kein Array',
  '{} is not an array of {} numbers': '{0} ist kein Array von {1} Zahlen',
  '{} holds a value that is not finite': '{0} enthält einen Wert, der nicht endlich ist',
  'rope.scaling.type "{}" is unknown': 'rope.scaling.type „{0}“ ist unbekannt',
  'rope.scaling.factor is out of range': 'rope.scaling.factor liegt außerhalb des Bereichs',
  'rope.freq_base is not positive': 'rope.freq_base ist nicht positiv',
  'rope.scaling of kind yarn needs a context, a base and positive betas':
    'rope.scaling der Art yarn braucht einen Kontext, eine Basis und positive Betas',
  'rope.section_order is neither tyxz nor zyxt': 'rope.section_order ist weder tyxz noch zyxt',
  'images with a fourth section of RoPE in the order zyxt are not supported':
    'Bilder mit einem vierten RoPE-Abschnitt in der Reihenfolge zyxt werden nicht unterstützt',
  'rope.freq_base_swa is not positive': 'rope.freq_base_swa ist nicht positiv',
  'expert_gating_func {} is unknown': 'expert_gating_func {0} ist unbekannt',
  'expert_used_count is {} of {#expert}': 'expert_used_count ist {0} von {1#Experten/Experten}',
  'expert_group_count does not divide the experts': 'expert_group_count teilt die Experten nicht',
  '{~} in layer {}': '{0} in Schicht {1}',
  'no attention heads': 'keine Attention-Köpfe',
  '{} key heads do not divide {#head}': '{0} Key-Köpfe teilen {1#Kopf/Köpfe} nicht',
  'attention heads have no elements': 'Attention-Köpfe haben keine Elemente',
  'rope.dimension_count {} is beyond the rotation': 'rope.dimension_count {0} ist größer als die Rotation',
  'rope.dimension_count {} is odd or beyond the head size {}':
    'rope.dimension_count {0} ist ungerade oder größer als der Kopf ({1})',
  '{} with {} {~} cannot run yet': '{0} mit {1} {2} läuft noch nicht',
  '{}.{} is missing': '{0}.{1} fehlt',
  'the epsilon of the norms is negative': 'Das Epsilon der Normierungen ist negativ',
  'classifier.activation is {}: gelu, silu and tanh are known':
    'classifier.activation ist {0}: bekannt sind gelu, silu und tanh',
  'nextn_predict_layers leaves no layers': 'nextn_predict_layers lässt keine Schichten übrig',
  'learned positions cannot be shifted': 'Gelernte Positionen können nicht verschoben werden',
  'the positions of a model with block attention cannot be shifted':
    'Die Positionen eines Modells mit Block-Attention können nicht verschoben werden',
  'keys that were scaled after their rotation cannot be rotated further':
    'Keys, die nach ihrer Rotation skaliert wurden, können nicht weiter rotiert werden',
  'no such sequence': 'Es gibt keine solche Sequenz',
  'a shared cell cannot be shifted': 'Eine geteilte Zelle kann nicht verschoben werden',
  'a shift before position 0': 'eine Verschiebung vor Position 0',
  'the context of {#token} is full': 'Der Kontext von {0#Token/Token} ist voll',
  'the windows of all sequences are full': 'Die Fenster aller Sequenzen sind voll',
  'position {} of sequence {} cannot follow {}': 'Position {0} von Sequenz {1} kann nicht auf {2} folgen',
  'the arrays of a batch differ in length': 'Die Arrays eines Stapels sind verschieden lang',
  'no sequence {}': 'Es gibt keine Sequenz {0}',
  'a draft model that reads hidden states cannot run without its target model':
    'Ein Entwurfsmodell, das verborgene Zustände liest, läuft nicht ohne sein Zielmodell',
  'this model has one position for each token, not three':
    'Dieses Modell hat eine Position je Token, nicht drei',
  "an image token's row or column is before its position, or too far after it":
    'Zeile oder Spalte eines Bildtokens liegt vor seiner Position oder zu weit danach',
  '{#token} with bidirectional attention do not fit a batch of {}':
    '{0#Token/Token} mit beidseitiger Attention passen nicht in einen Stapel von {1}',
  'tensor token_embd.weight has {#row}': 'Tensor token_embd.weight hat {0#Zeile/Zeilen}',
  'tensor token_embd.weight is missing': 'Tensor token_embd.weight fehlt',
  'tensor {} has more than 4 dimensions': 'Tensor {0} hat mehr als 4 Dimensionen',
  'no file to open': 'Es gibt keine Datei zum Öffnen',
  'general.architecture is missing, so this file is not a model':
    'general.architecture fehlt, also ist diese Datei kein Modell',
  'cannot allocate a model': 'Für ein Modell ist kein Speicher da',
  'ALiBi is not supported if layers have different numbers of heads':
    'ALiBi wird nicht unterstützt, wenn Schichten verschieden viele Köpfe haben',
  'the model needs more memory than can be counted':
    'Das Modell braucht mehr Speicher, als sich zählen lässt',
  'no such tensor in the plan': 'Es gibt keinen solchen Tensor im Plan',
  'no such rows of an encoder are expected': 'Solche Zeilen eines Encoders werden nicht erwartet',
  'no such outputs of tokens are expected': 'Solche Ausgaben von Tokens werden nicht erwartet',
  'the audio has no window at {}': 'Der Ton hat kein Fenster bei {0}',
  'this model has no classification head: it cannot rank':
    'Dieses Modell hat keinen Klassifikationskopf: Es kann keine Rangfolge bilden',
  'tensor emb.weight is missing': 'Tensor emb.weight fehlt',
  'tensor emb.weight has rows of {#element}': 'Tensor emb.weight hat Zeilen von {0#Element/Elementen}',
  'tensor blocks.0.ln1.weight is missing': 'Tensor blocks.0.ln1.weight fehlt',
  'heads of {#element}': 'Köpfe von {0#Element/Elementen}',
  'the number of sequences must be 1 to 64': 'Die Zahl der Sequenzen muss 1 bis 64 sein',
  'a context of {#token} is not possible': 'Ein Kontext von {0#Token/Token} ist nicht möglich',
  'this state has no keys and values, only the table of cells':
    'Dieser Zustand hat keine Keys und Values, nur die Tabelle der Zellen',
  'cannot allocate a state': 'Für einen Zustand ist kein Speicher da',
  'the context needs more memory than can be counted':
    'Der Kontext braucht mehr Speicher, als sich zählen lässt',
  'the state of an encoder-decoder model cannot be saved':
    'Der Zustand eines Encoder-Decoder-Modells kann nicht gespeichert werden',
  'truncated at byte {} in saved state': 'Abgeschnitten bei Byte {0} im gespeicherten Zustand',
  'this is not a saved state of this version': 'Dies ist kein gespeicherter Zustand dieser Version',
  'the saved state is for another model or cache type':
    'Der gespeicherte Zustand gehört zu einem anderen Modell oder Cache-Typ',
  'the saved state has {#byte} for {#token}': 'Der gespeicherte Zustand hat {0} Byte für {1#Token/Token}',
  "the saved state's positions descend": 'Die Positionen des gespeicherten Zustands fallen',
  'the saved state ends before it begins': 'Der gespeicherte Zustand endet, bevor er beginnt',
  'the context has no room for the saved {#token}':
    'Der Kontext hat keinen Platz für die gespeicherten {0} Token',
  'the windows have no room for the saved tokens':
    'Die Fenster haben keinen Platz für die gespeicherten Token',
  'the state of an encoder-decoder model cannot be restored':
    'Der Zustand eines Encoder-Decoder-Modells kann nicht wiederhergestellt werden',
  'posnet and convnext have different widths': 'posnet und convnext haben verschiedene Breiten',
  'wavtokenizer-dec.attention.group_norm_epsilon is missing or negative':
    'wavtokenizer-dec.attention.group_norm_epsilon fehlt oder ist negativ',
  'attention.group_norm_groups does not divide the channels':
    'attention.group_norm_groups teilt die Kanäle nicht',
  'frames of several sequences cannot be computed together':
    'Frames mehrerer Sequenzen können nicht zusammen berechnet werden',
  "tensor {} has shape {}, the model's keys say {}":
    'Tensor {0} hat die Form {1}, die Schlüssel des Modells sagen {2}',
  'tensor {} has type {}, which cannot be computed':
    'Tensor {0} hat den Typ {1}, mit dem nicht gerechnet werden kann',
  'tensor {} has an impossible shape {}': 'Tensor {0} hat die unmögliche Form {1}',
  'tensor {} has rows of {#element} of type {}':
    'Tensor {0} hat Zeilen von {1#Element/Elementen} vom Typ {2}',
  'tensor {} has {#byte}, its shape needs {}': 'Tensor {0} hat {1} Byte, seine Form braucht {2}',
  'tensor {} is larger than this machine can address':
    'Tensor {0} ist größer, als dieser Computer adressieren kann',
  "tensor {} ends at byte {}, beyond the file's {}": 'Tensor {0} endet bei Byte {1}, nach den {2} der Datei',
  'tensor {} is used twice': 'Tensor {0} wird zweimal verwendet',
  'tensor {}.weight is quantized, and its rows are no whole blocks':
    'Tensor {0}.weight ist quantisiert, und seine Zeilen sind keine ganzen Blöcke',
  "tensor {} has shape {}, the model's keys say {#row} of {}":
    'Tensor {0} hat die Form {1}, die Schlüssel des Modells sagen {2#Zeile/Zeilen} zu {3}',
  'tensor {} is not of type I32 or I64': 'Tensor {0} ist nicht vom Typ I32 oder I64',
  "tensor {} has shape {}, the model's keys say {#element}":
    'Tensor {0} hat die Form {1}, die Schlüssel des Modells sagen {2#Element/Elemente}',
  "tensor {} has rows of {#element}, the model's keys say {}":
    'Tensor {0} hat Zeilen von {1#Element/Elementen}, die Schlüssel des Modells sagen {2}',
  'tensor {} is not part of this architecture': 'Tensor {0} gehört nicht zu dieser Architektur',
  'tensor {} needs more memory than can be counted':
    'Tensor {0} braucht mehr Speicher, als sich zählen lässt',
  'tensor {} holds {}, not a number below {}': 'Tensor {0} enthält {1}, keine Zahl unter {2}',
  '{#byte} are not whole rows of tensor {}': '{0} Byte sind keine ganzen Zeilen von Tensor {1}',
  'heads of keys and of values differ in size': 'Köpfe von Keys und Values sind verschieden groß',
  'num_loops is {}': 'num_loops ist {0}',
  'attention.shared_kv_layers leaves no layer': 'attention.shared_kv_layers lässt keine Schicht übrig',
  'a layer shares keys of a kind that no layer has':
    'Eine Schicht teilt Keys einer Art, die keine Schicht hat',
  'tensor per_layer_proj_norm.weight is missing': 'Tensor per_layer_proj_norm.weight fehlt',
  'a layer shares keys of another kind of layer': 'Eine Schicht teilt Keys einer anderen Art von Schicht',
  'hidden_activation is relu without a gate': 'hidden_activation ist relu ohne Gatter',
  '{} is missing': '{0} fehlt',
  'attention.relative_buckets_count is missing or no multiple of 4':
    'attention.relative_buckets_count fehlt oder ist kein Vielfaches von 4',
  'layers of different shapes in an encoder-decoder': 'Schichten verschiedener Form in einem Encoder-Decoder',
  'experts_per_group does not divide the experts': 'experts_per_group teilt die Experten nicht',
  'kda.gate_lower_bound is not negative': 'kda.gate_lower_bound ist nicht negativ',
  'activation.situ_beta is missing or 0': 'activation.situ_beta fehlt oder ist 0',
  'kda.gate_lower_bound is missing or not negative': 'kda.gate_lower_bound fehlt oder ist nicht negativ',
  'block_count is {}, the passes of both stacks are {}':
    'block_count ist {0}, die Durchläufe beider Stapel sind {1}',
  'attention.group_norm_groups does not divide embedding_length':
    'attention.group_norm_groups teilt embedding_length nicht',
  'value experts have no router with this expert_gating_func':
    'Value-Experten haben mit dieser expert_gating_func keinen Router',
  'attention.key_length_mla or attention.value_length_mla is missing':
    'attention.key_length_mla oder attention.value_length_mla fehlt',
  'attention.indexer.types: no layer chooses before layer {}':
    'attention.indexer.types: Vor Schicht {0} wählt keine Schicht aus',
  "expert_gating_func is not 4, DeepSeek-V4's own": 'expert_gating_func ist nicht 4, DeepSeek-V4s eigene',
  'attention.sliding_window is missing or 0': 'attention.sliding_window fehlt oder ist 0',
  'attention.causal is not false, as the decision head needs':
    'attention.causal ist nicht false, wie es der Entscheidungskopf braucht',
  'decision.block_count is missing or 0, but there is a decision head':
    'decision.block_count fehlt oder ist 0, obwohl es einen Entscheidungskopf gibt',
  'attention.compress_rope_freq_base is not positive': 'attention.compress_rope_freq_base ist nicht positiv',
  'attention.indexer.types: layer {} has neither window nor indexer':
    'attention.indexer.types: Schicht {0} hat weder Fenster noch Indexer',
  'rope.dimension_count is not 0': 'rope.dimension_count ist nicht 0',
  'attention.indexer.top_k is no multiple of attention.indexer.kpool, or that is 1':
    'attention.indexer.top_k ist kein Vielfaches von attention.indexer.kpool, oder dieses ist 1',
  'hyper_connection.count is 1': 'hyper_connection.count ist 1',
  'attention.compress_ratios holds {}: 1, another one than before, or no divisor of attention.indexer.top_k':
    'attention.compress_ratios enthält {0}: 1, einen anderen als zuvor oder keinen Teiler von attention.indexer.top_k',
  'cannot run architecture {}: {~}': 'Die Architektur {0} läuft hier nicht: {1}',
  'cannot run architecture {} yet; can run: {~}': 'Die Architektur {0} läuft noch nicht; es laufen: {1}',
  'the model has no layers that predict further tokens':
    'Das Modell hat keine Schichten, die weitere Token vorhersagen',
  'tensor {}.bias is missing': 'Tensor {0}.bias fehlt',
  'a token has no known part': 'Ein Token hat keinen bekannten Teil',
  'the text has no question': 'Der Text hat keine Frage',
  'an option is before the first of several questions':
    'Eine Option steht vor der ersten von mehreren Fragen',
  'question {} has no option': 'Frage {0} hat keine Option',
  'attention.layer_norm_epsilon is missing, which the decision head needs':
    'attention.layer_norm_epsilon fehlt, das der Entscheidungskopf braucht',
  'this model has no decision head that reads questions and options':
    'Dieses Modell hat keinen Entscheidungskopf, der Fragen und Optionen liest',
  'each token needs a part': 'Jedes Token braucht einen Teil',
  'this model reads one question at a time, not {#question}':
    'Dieses Modell liest eine Frage auf einmal, nicht {0}',
  'the decision head is missing': 'Der Entscheidungskopf fehlt',
  'decision.head_count does not divide the width of the decision head':
    'decision.head_count teilt die Breite des Entscheidungskopfs nicht',
  'decision.block_count leaves no layers': 'decision.block_count lässt keine Schichten übrig',
  'a block of the decision head has no heads or no width':
    'Ein Block des Entscheidungskopfs hat keine Köpfe oder keine Breite',
  'values cannot be the keys of another size': 'Values können nicht die Keys einer anderen Größe sein',
  'attention.indexer.* is out of range, or has not one head for each key head':
    'attention.indexer.* liegt außerhalb des Bereichs oder hat nicht einen Kopf je Key-Kopf',
  'attention.output_group_count, q_lora_rank or a head size is out of range':
    'attention.output_group_count, q_lora_rank oder eine Kopfgröße liegt außerhalb des Bereichs',
  'the ssm.* keys are missing, 0 or do not divide': 'Die ssm.*-Schlüssel fehlen, sind 0 oder gehen nicht auf',
  'eagle3.target_layers is missing': 'eagle3.target_layers fehlt',
  'an eagle3 model has one layer': 'Ein eagle3-Modell hat eine Schicht',
  'a draft model without embeddings needs a vocabulary':
    'Ein Entwurfsmodell ohne Embeddings braucht ein Vokabular',
  'the context of the draft model is smaller than that of its target':
    'Der Kontext des Entwurfsmodells ist kleiner als der seines Ziels',
  "gemma4-assistant.embedding_length_out is the assistant's own width":
    'gemma4-assistant.embedding_length_out ist die eigene Breite des Assistenten',
  "the keys of dflash's convolutions or selector do not fit the model":
    'Die Schlüssel der Faltungen oder des Selektors von dflash passen nicht zum Modell',
  'dflash.target_layers is missing or no list of layers':
    'dflash.target_layers fehlt oder ist keine Liste von Schichten',
  'tokenizer.ggml.mask_token_id is missing': 'tokenizer.ggml.mask_token_id fehlt',
  'dflash.block_size leaves no token to propose': 'dflash.block_size lässt kein Token zum Vorschlagen',
  'dflash.hidden_activation {} is unknown': 'dflash.hidden_activation {0} ist unbekannt',
  'dflash with a LiLiCorr head, which llama.cpp 0.7.0 has, cannot run yet':
    'dflash mit einem LiLiCorr-Kopf, den llama.cpp 0.7.0 hat, läuft noch nicht',
  'dflash with the layers of DeepSeek-V4, which llama.cpp 0.7.0 has, cannot run yet':
    'dflash mit den Schichten von DeepSeek-V4, die llama.cpp 0.7.0 hat, läuft noch nicht',
  'tokenizer.ggml.mask_token_id is beyond the vocabulary':
    'tokenizer.ggml.mask_token_id liegt außerhalb des Vokabulars',
  'the draft model has more tokens than its target': 'Das Entwurfsmodell hat mehr Token als sein Ziel',
  'attention.indexer.* is missing or out of range':
    'attention.indexer.* fehlt oder liegt außerhalb des Bereichs',
  'rope.dimension_count is more than attention.indexer.key_length':
    'rope.dimension_count ist mehr als attention.indexer.key_length',
  'kda.head_dim, ssm.conv_kernel or attention.head_count is out of range':
    'kda.head_dim, ssm.conv_kernel oder attention.head_count liegt außerhalb des Bereichs',
  'attention.kv_lora_rank or a head size of latent attention is missing or out of range':
    'attention.kv_lora_rank oder eine Kopfgröße der latenten Attention fehlt oder liegt außerhalb des Bereichs',
  '{} is not the same in every layer': '{0} ist nicht in jeder Schicht gleich',
  'lightning attention needs the same number of heads, not 0, in every layer':
    'Lightning-Attention braucht in jeder Schicht gleich viele Köpfe, nicht 0',
  'rows are added to a normalized part': 'Zu einem normierten Teil werden Zeilen addiert',
  'the ssm.* keys of {} are missing, 0 or do not divide':
    'Die ssm.*-Schlüssel von {0} fehlen, sind 0 oder gehen nicht auf',
  'wkv.head_size {} does not divide {}': 'wkv.head_size {0} teilt {1} nicht',
  'key heads do not divide the heads': 'Key-Köpfe teilen die Köpfe nicht',
  'tensor {} has {#row}, feed_forward_length is {}':
    'Tensor {0} hat {1#Zeile/Zeilen}, feed_forward_length ist {2}',
  'attention.value_expert_used_count does not fit the number of experts':
    'attention.value_expert_used_count passt nicht zur Zahl der Experten',
  'tensor altup_proj.weight is missing': 'Tensor altup_proj.weight fehlt',
  '{} is missing, or no array of {} counts': '{0} fehlt oder ist kein Array von {1} Anzahlen',
  'ple.head_offsets and ple.head_vocab_sizes: head {} has no rows, or rows beyond 2^31':
    'ple.head_offsets und ple.head_vocab_sizes: Kopf {0} hat keine Zeilen oder Zeilen jenseits von 2^31',
  'ple.layers does not name exactly one layer of the model':
    'ple.layers nennt nicht genau eine Schicht des Modells',
  'ple.layers names a layer with attention': 'ple.layers nennt eine Schicht mit Attention',
  'ple.eos_token_id is missing': 'ple.eos_token_id fehlt',
  'ple.ngram_size or ple.heads_per_ngram is out of range':
    'ple.ngram_size oder ple.heads_per_ngram liegt außerhalb des Bereichs',
}
