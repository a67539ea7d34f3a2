const encoder = new TextEncoder();
const BLOCK_END = /\r\n\r\n|\n\n|\r\r/;

/** Data of a block of server-sent events. */
function dataOf(block: string): string {
  return block
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
}

interface Watcher {
  /** Sees the data of each event; true hides the event from the caller. */
  sees(data: string): boolean;
  /** Called once: the stream is over, broke off, or its reader has left. */
  ended(): void;
}

/**
 * The same stream of server-sent events, as it is read by the caller. Without hidden events its bytes pass unchanged.
 *
 * mayHide  events pass block by block, so that one can be left out
 */
export function watchedStream(
  source: ReadableStream<Uint8Array>,
  { sees, ended }: Watcher,
  mayHide: boolean,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let isEnded = false;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    ended();
  };

  /** Whole blocks of what has come; those to be shown, as text. */
  function shown(text: string): string {
    rest += text;
    let passed = '';
    for (let found = BLOCK_END.exec(rest); found; found = BLOCK_END.exec(rest)) {
      const to = found.index + found[0].length;
      const block = rest.slice(0, to);
      rest = rest.slice(to);
      if (!sees(dataOf(block))) passed += block;
    }
    return passed;
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await reader.read();
          const passed = shown(done ? decoder.decode() : decoder.decode(value, { stream: true }));
          const last = done ? rest : '';
          if (done && last !== '' && sees(dataOf(last))) rest = '';
          const bytes = mayHide ? encoder.encode(passed + (done ? rest : '')) : value;
          if (bytes && bytes.length > 0) controller.enqueue(bytes);
          if (done) {
            end();
            controller.close();
          }
          if (done || (bytes && bytes.length > 0)) return;
        }
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}
