// Compressed bytes from text: five letters are four bytes. The Python side is
// binary_text.py.

export async function unpackText(text) {
  const nAdded = Number(text[0]);
  const bytes = new Uint8Array(((text.length - 1) / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let i = 1, at = 0; i < text.length; i += 5, at += 4) {
    let number = 0;
    for (let k = i; k < i + 5; k++) {
      const code = text.charCodeAt(k);
      number = number * 85 + (code === 125 ? 20 : code - 40); // "}" stands for "<"
    }
    view.setUint32(at, number);
  }
  const packed = new Blob([bytes.subarray(0, bytes.length - nAdded)]);
  const opened = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(opened).arrayBuffer());
}
