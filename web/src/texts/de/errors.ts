// What an error means, and what to do.
export const errors = {
  'A count cannot be true': 'Eine Anzahl kann nicht stimmen',
  'A GGUF file begins with the four letters GGUF. Check that the address or the file is the right one.':
    'Eine GGUF-Datei beginnt mit den vier Buchstaben GGUF. Prüfen Sie, ob Adresse oder Datei die richtige ist.',
  'A length cannot be true': 'Eine Länge kann nicht stimmen',
  'A part of this page could not be loaded': 'Ein Teil dieser Seite konnte nicht geladen werden',
  'A part of this page could not be loaded.': 'Ein Teil dieser Seite konnte nicht geladen werden.',
  'A part of this split model is missing': 'Ein Teil dieses geteilten Modells fehlt',
  'A size is too large to be true': 'Eine Größe ist zu groß, um zu stimmen',
  'A tensor has an impossible shape': 'Ein Tensor hat eine unmögliche Form',
  'A value has a type that does not exist': 'Ein Wert hat einen Typ, den es nicht gibt',
  'Arrays are nested too deeply': 'Arrays sind zu tief verschachtelt',
  'Check the address and the connection. If the address opens elsewhere, the server may not let other pages read it (CORS): download the file and drop it here.':
    'Prüfen Sie Adresse und Verbindung. Wenn sich die Adresse anderswo öffnen lässt, erlaubt der Server anderen Seiten vielleicht das Lesen nicht (CORS): Laden Sie die Datei herunter und ziehen Sie sie hierher.',
  'Check the address, or try again later.':
    'Prüfen Sie die Adresse, oder versuchen Sie es später noch einmal.',
  'Check the address. If it opens elsewhere, the server does not let other pages read its files (CORS): download the file and drop it here.':
    'Prüfen Sie die Adresse. Wenn sie sich anderswo öffnen lässt, erlaubt der Server anderen Seiten das Lesen nicht (CORS): Laden Sie die Datei herunter und ziehen Sie sie hierher.',
  'Check the connection and try again. If that does not help, load the page again.':
    'Prüfen Sie die Verbindung, und versuchen Sie es noch einmal. Wenn das nicht hilft, laden Sie die Seite neu.',
  'Check the name.': 'Prüfen Sie den Namen.',
  'Check the owner and the name. If the repository is private or gated, give an access token below.':
    'Prüfen Sie Eigentümer und Namen. Wenn das Repository privat oder zugangsbeschränkt ist, geben Sie unten ein Zugriffstoken an.',
  'Check the owner and the name. It may have been renamed or removed, be private, or lack the revision of the address.':
    'Prüfen Sie Eigentümer und Namen. Vielleicht wurde es umbenannt oder gelöscht, ist privat, oder die Revision der Adresse fehlt.',
  'Choose another name, or allow that the file is replaced.':
    'Wählen Sie einen anderen Namen, oder erlauben Sie, dass die Datei ersetzt wird.',
  'Choose another name, or remove the one that has it.':
    'Wählen Sie einen anderen Namen, oder entfernen Sie das Element, das ihn trägt.',
  'Choose or drop all parts together, or open what is there.':
    'Wählen Sie alle Teile zusammen aus, oder öffnen Sie, was da ist.',
  'Close other tabs and try again. If the header should be small, the file is damaged.':
    'Schließen Sie andere Tabs und versuchen Sie es noch einmal. Wenn der Header klein sein sollte, ist die Datei beschädigt.',
  'Give an address that begins with http:// or https://, or hf:owner/repository/file.gguf.':
    'Geben Sie eine Adresse an, die mit http:// oder https:// beginnt, oder hf:owner/repository/file.gguf.',
  'Give the address of the file itself: on model hubs that of the download button (“resolve” instead of “blob”).':
    'Geben Sie die Adresse der Datei selbst an: auf Modell-Hubs die des Download-Knopfs („resolve“ statt „blob“).',
  'It holds a model in another format. Look for a GGUF version, or convert it with llama.cpp.':
    'Sie enthält ein Modell in einem anderen Format. Suchen Sie eine GGUF-Version, oder wandeln Sie sie mit llama.cpp um.',
  'It is cut off: an interrupted download or upload. Download it again and compare its size with the original.':
    'Sie ist abgeschnitten, weil ein Download oder Upload abgebrochen ist. Laden Sie sie neu herunter und vergleichen Sie die Größe mit dem Original.',
  'It is not in this file': 'Das gibt es in dieser Datei nicht',
  'It is not valid, or it refuses these messages on purpose: its own message is shown with it.':
    'Es ist ungültig, oder es lehnt diese Nachrichten absichtlich ab: Seine eigene Meldung steht dabei.',
  'It may have been moved or renamed, or belong to another revision.':
    'Vielleicht wurde sie verschoben oder umbenannt, oder sie gehört zu einer anderen Revision.',
  'It took more steps or made more text than any normal template. It may be malicious.':
    'Es brauchte mehr Schritte oder erzeugte mehr Text als jedes normale Template. Vielleicht ist es bösartig.',
  'It was made to mislead, or is damaged. Do not trust it.':
    'Sie soll täuschen oder ist beschädigt. Vertrauen Sie ihr nicht.',
  'It was removed. Load it again.': 'Er wurde entfernt. Laden Sie die Datei noch einmal.',
  'It was written before GGUF (GGML, GGMF or GGJT). Look for a newer version of the model.':
    'Sie stammt aus der Zeit vor GGUF (GGML, GGMF oder GGJT). Suchen Sie eine neuere Version des Modells.',
  'Its responses do not have the header Access-Control-Allow-Origin. Download the file and drop it here, or ask the server for that header.':
    'Seinen Antworten fehlt der Header Access-Control-Allow-Origin. Laden Sie die Datei herunter und ziehen Sie sie hierher, oder bitten Sie den Betreiber um diesen Header.',
  'Load the model again. If memory was short, choose a shorter context or a smaller model.':
    'Laden Sie das Modell neu. Wenn der Speicher knapp war, wählen Sie einen kürzeren Kontext oder ein kleineres Modell.',
  'Load this page again. WebAssembly may be switched off, or blocked by an extension.':
    'Laden Sie diese Seite neu. Vielleicht ist WebAssembly ausgeschaltet oder von einer Erweiterung blockiert.',
  'Not all of the header was read': 'Der Header wurde nicht ganz gelesen',
  'Open it again to see the new one.': 'Öffnen Sie sie noch einmal, um die neue zu sehen.',
  'Open it again.': 'Öffnen Sie sie noch einmal.',
  'Open the file again.': 'Öffnen Sie die Datei noch einmal.',
  'Reading a part would fetch far too much. Download the file and drop it here.':
    'Einen Teil zu lesen würde viel zu viel übertragen. Laden Sie die Datei herunter und ziehen Sie sie hierher.',
  'Remove stored models, free space on the disk, or run the model without storing it.':
    'Entfernen Sie gespeicherte Modelle, machen Sie Platz auf dem Datenträger, oder führen Sie das Modell aus, ohne es zu speichern.',
  'Search the hub for “{words}”': 'Den Hub nach „{words}“ durchsuchen',
  'Settings and indexes of a model lie beside it as JSON. Choose the file that ends in .gguf.':
    'Einstellungen und Indizes eines Modells liegen als JSON daneben. Wählen Sie die Datei, die auf .gguf endet.',
  'Several retries failed. Try again later.':
    'Mehrere Versuche sind gescheitert. Versuchen Sie es später noch einmal.',
  'Something lies outside the file': 'Etwas liegt außerhalb der Datei',
  'Something went wrong here': 'Hier ist etwas schiefgegangen',
  'Such files can hold programs: open only those you trust. Look for a GGUF version, or convert it with llama.cpp.':
    'Solche Dateien können Programme enthalten: Öffnen Sie nur solche, denen Sie vertrauen. Suchen Sie eine GGUF-Version, oder wandeln Sie sie mit llama.cpp um.',
  'Take another copy of the source, or a type that can hold such values: BF16 or F32.':
    'Nehmen Sie eine andere Kopie der Quelle oder einen Typ, der solche Werte fasst: BF16 oder F32.',
  'The alignment is not valid': 'Die Ausrichtung ist ungültig',
  'The browser has no room for this file': 'Der Browser hat keinen Platz für diese Datei',
  'The chat template does not work': 'Das Chat-Template funktioniert nicht',
  'The chat template was stopped': 'Das Chat-Template wurde angehalten',
  'The connection was lost': 'Die Verbindung ist abgebrochen',
  'The download is damaged': 'Der Download ist beschädigt',
  'No graphics card can run this model': 'Keine Grafikkarte kann dieses Modell ausführen',
  'Run it on the CPU, or switch on WebGPU in the settings of the browser.':
    'Führen Sie es auf der CPU aus, oder schalten Sie WebGPU in den Einstellungen des Browsers ein.',
  'The graphics card failed': 'Die Grafikkarte ist ausgefallen',
  'Load the model again. If the card has little memory, close other pages that use it, or run the model on the CPU.':
    'Laden Sie das Modell neu. Hat die Karte wenig Speicher, schließen Sie andere Seiten, die sie nutzen, oder führen Sie das Modell auf der CPU aus.',
  'Another tab ran the engine, and ended': 'Ein anderer Tab hat die Engine ausgeführt und ist beendet',
  'Do it again: the engine starts in this tab or another.':
    'Noch einmal versuchen: Die Engine startet in diesem oder einem anderen Tab.',
  'The engine crashed': 'Die Engine ist abgestürzt',
  'The fault is the server’s. Try again in a few minutes.':
    'Der Fehler liegt beim Server. Versuchen Sie es in einigen Minuten noch einmal.',
  'The server does not accept the access token': 'Der Server nimmt das Zugriffstoken nicht an',
  'It may have expired, or lack the right to read this repository. Check it, or ask for access on the page of the repository.':
    'Es kann abgelaufen sein, oder ihm fehlt das Recht, dieses Repository zu lesen. Prüfen Sie es, oder bitten Sie auf der Seite des Repositorys um Zugang.',
  'The file ends too early': 'Die Datei endet zu früh',
  'The file is empty': 'Die Datei ist leer',
  'Its download or copy did not begin. Download it again.':
    'Ihr Download oder ihre Kopie hat nicht begonnen. Laden Sie sie noch einmal herunter.',
  'This file is a web page, not a model': 'Diese Datei ist eine Webseite, kein Modell',
  'The download saved a page of the site, perhaps its sign-in. Download the file again, with the download button.':
    'Gespeichert wurde eine Seite der Website, vielleicht die Anmeldung. Laden Sie die Datei noch einmal herunter, über die Schaltfläche zum Herunterladen.',
  'The file is damaged or was not written as GGUF demands. Download it again, or ask where it came from.':
    'Die Datei ist beschädigt oder nicht so geschrieben, wie GGUF es verlangt. Laden Sie sie neu herunter, oder fragen Sie nach ihrer Herkunft.',
  'The file is not what its preview showed': 'Die Datei ist nicht, was ihre Vorschau zeigte',
  'The file is opened as soon as there is a connection again. Kept models and files of this computer open without one.':
    'Die Datei wird geöffnet, sobald es wieder eine Verbindung gibt. Gespeicherte Modelle und Dateien dieses Computers lassen sich ohne sie öffnen.',
  'The file is private or gated. Give an access token below, or download it with your account and drop it here.':
    'Die Datei ist privat oder zugangsbeschränkt. Geben Sie unten ein Zugriffstoken an, oder laden Sie sie mit Ihrem Konto herunter und ziehen Sie sie hierher.',
  'The file is private or gated. Download it with your account, and drop it here.':
    'Die Datei ist privat oder zugangsbeschränkt. Laden Sie sie mit Ihrem Konto herunter, und ziehen Sie sie hierher.',
  'The file may have become shorter. Try again.':
    'Die Datei ist vielleicht kürzer geworden. Versuchen Sie es noch einmal.',
  'The file uses something that this version does not support.':
    'Die Datei verwendet etwas, das diese Version nicht unterstützt.',
  'The model has a tensor that is not computed here':
    'Das Modell hat einen Tensor, der hier nicht berechnet wird',
  'Its architecture may be newer than this version, or was changed. Another program may run it.':
    'Seine Architektur ist vielleicht neuer als diese Version oder wurde geändert. Ein anderes Programm führt es vielleicht aus.',
  'The projector belongs to another model': 'Der Projektor gehört zu einem anderen Modell',
  'Choose the projector that was made for this model: it lies beside it.':
    'Wählen Sie den Projektor, der für dieses Modell gemacht wurde: Er liegt daneben.',
  'The file was closed': 'Die Datei wurde geschlossen',
  'The file was replaced while it was read': 'Die Datei wurde während des Lesens ersetzt',
  'The header does not fit into memory': 'Der Header passt nicht in den Speicher',
  'The original models are often in other formats. Search for a repository that has them as GGUF.':
    'Die ursprünglichen Modelle haben oft andere Formate. Suchen Sie ein Repository, das sie als GGUF enthält.',
  'The reader could not be loaded': 'Der Leser konnte nicht geladen werden',
  'The server answers with an error': 'Der Server antwortet mit einem Fehler',
  'The server asks for a pause. Wait a minute and try again.':
    'Der Server bittet um eine Pause. Warten Sie eine Minute und versuchen Sie es noch einmal.',
  'The server cannot be reached': 'Der Server ist nicht erreichbar',
  'The server cannot be reached, or does not let this page read its files':
    'Der Server ist nicht erreichbar, oder er lässt diese Seite seine Dateien nicht lesen',
  'The server does not let this page read the file':
    'Der Server erlaubt dieser Seite nicht, die Datei zu lesen',
  'The server has a problem': 'Der Server hat ein Problem',
  'The server has no such range': 'Der Server hat diesen Bereich nicht',
  'The server keeps the real file in Git LFS. Use the download address (“resolve” or “media” instead of “raw”).':
    'Der Server hält die eigentliche Datei in Git LFS. Verwenden Sie die Download-Adresse („resolve“ oder „media“ statt „raw“).',
  'The server refuses the file': 'Der Server verweigert die Datei',
  'The server sends whole files only': 'Der Server sendet nur ganze Dateien',
  'The server wants a sign-in': 'Der Server verlangt eine Anmeldung',
  'The weights or the importance matrix contain unusable numbers':
    'Die Gewichte oder die Importance-Matrix enthalten unbrauchbare Zahlen',
  'There are two of that name': 'Es gibt zwei mit diesem Namen',
  'There is a file of that name already': 'Es gibt schon eine Datei mit diesem Namen',
  'The hub has no such repository': 'Der Hub hat kein solches Repository',
  'There is no such file': 'Diese Datei gibt es nicht',
  'This repository has no GGUF files': 'In diesem Repository gibt es keine GGUF-Dateien',
  'This address cannot be used': 'Diese Adresse lässt sich nicht verwenden',
  'This address leads to a web page': 'Diese Adresse führt zu einer Webseite',
  'This cannot be read here': 'Das lässt sich hier nicht lesen',
  'This device is offline': 'Dieses Gerät ist offline',
  'This is a fault of the viewer. Try again, and report it with the text below.':
    'Das ist ein Fehler des Viewers. Versuchen Sie es noch einmal, und melden Sie ihn mit dem Text unten.',
  'This is a JSON file, not a model': 'Das ist eine JSON-Datei, kein Modell',
  'This is a pointer to the file': 'Das ist nur ein Verweis auf die Datei',
  'This is a PyTorch checkpoint': 'Das ist ein PyTorch-Checkpoint',
  'This is a safetensors file': 'Das ist eine safetensors-Datei',
  'This is an archive': 'Das ist ein Archiv',
  'This is an older format of the same family': 'Das ist ein älteres Format derselben Familie',
  'This is not a GGUF file': 'Das ist keine GGUF-Datei',
  'This version of GGUF is not known': 'Diese Version von GGUF ist unbekannt',
  'Too many requests': 'Zu viele Anfragen',
  'If it holds a GGUF file, unpack it and open that. A PyTorch checkpoint holds none: look for a GGUF version, or convert it with llama.cpp.':
    'Enthält es eine GGUF-Datei, entpacken Sie es und öffnen Sie diese. Ein PyTorch-Checkpoint enthält keine: Suchen Sie eine GGUF-Fassung, oder wandeln Sie ihn mit llama.cpp um.',
  'Versions 1 to 3 can be read, of either byte order. The version field of this file says something else.':
    'Lesbar sind die Versionen 1 bis 3 in beiden Byte-Reihenfolgen. Im Versionsfeld dieser Datei steht etwas anderes.',
  'You may have to accept its terms first, or the link has expired. Or download it and drop it here.':
    'Vielleicht müssen Sie zuerst die Bedingungen annehmen, oder der Link ist abgelaufen. Oder laden Sie die Datei herunter und ziehen Sie sie hierher.',
  'This device is offline. It goes on when the connection is back.':
    'Dieses Gerät ist offline. Es geht weiter, wenn die Verbindung wieder da ist.',
  'This device is offline.': 'Dieses Gerät ist offline.',
  'This looks like an importance matrix, not a model':
    'Das sieht nach einer Wichtigkeitsmatrix aus, nicht nach einem Modell',
  'Open the model that it belongs to. Convert takes the matrix to quantize it.':
    'Öffnen Sie das Modell, zu dem sie gehört. Umwandeln nimmt die Matrix, um es zu quantisieren.',
  'This looks like an image, not a model': 'Das sieht nach einem Bild aus, nicht nach einem Modell',
  'Open a model that reads images. Run takes the image with a message.':
    'Öffnen Sie ein Modell, das Bilder liest. Ausführen nimmt das Bild mit einer Nachricht.',
  'This looks like a recording, not a model': 'Das sieht nach einer Aufnahme aus, nicht nach einem Modell',
  'Open a speech model. Transcribe takes the recording.':
    'Öffnen Sie ein Modell der Spracherkennung. Transkribieren nimmt die Aufnahme.',
  'This file was not written as a whole': 'Diese Datei wurde nicht vollständig geschrieben',
  'It begins with zeros: its download or copy was interrupted. Download it again.':
    'Sie beginnt mit Nullen: Ihr Download oder ihre Kopie wurde unterbrochen. Laden Sie sie noch einmal herunter.',
  'This is an ONNX model': 'Das ist ein ONNX-Modell',
  'It holds a model in another format. Look for a GGUF version of the model.':
    'Sie enthält ein Modell in einem anderen Format. Suchen Sie eine GGUF-Version des Modells.',
  'This is a model of TensorFlow or Keras': 'Das ist ein Modell von TensorFlow oder Keras',
  'This is an array of NumPy, not a model': 'Das ist ein Array von NumPy, kein Modell',
  'Choose the file that ends in .gguf.': 'Wählen Sie die Datei, die auf .gguf endet.',
  'This is a drawing (SVG), not a model': 'Das ist eine Zeichnung (SVG), kein Modell',
  'This is a video, not a model': 'Das ist ein Video, kein Modell',
  'This is a document, not a model': 'Das ist ein Dokument, kein Modell',
  'This is a program, not a model': 'Das ist ein Programm, kein Modell',
  'This is an XML file, not a model': 'Das ist eine XML-Datei, kein Modell',
  'This is a text, not a model': 'Das ist ein Text, kein Modell',
}
