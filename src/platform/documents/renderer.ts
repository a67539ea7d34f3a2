import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Drawn } from './draw.ts';
import type { DrawThreadData } from './draw-thread.ts';
import type { DocumentModel } from './model.ts';

/** Time limit of a document; the largest one measured, 20 000 lines, takes a fraction of it. */
const MOST_MS = 120_000;
/** How large the heap of the thread may be in MiB, so that an absurd document does not end the process. */
const MOST_HEAP_MB = 1536;

export interface Renderer {
  /** PDF of a document, which carries the XML if there is one. Rejects when it is not drawn within two minutes. */
  render(model: DocumentModel, xml?: Uint8Array): Promise<Drawn>;
  close(): Promise<void>;
}

/** How much less of a busy processor a slow thread gets, by Linux's scale of 0 to 19: about a tenth of a whole one. */
const SLOW_NICENESS = 10;

/**
 * Draws documents in a thread of its own, one after the other: laying out a page is pure computation (about 1 ms a
 * line), so on the main thread an invoice of thousands of lines would hold up every other job of the process for
 * seconds. The thread starts with the first document, and a failed thread is replaced; a closed renderer leaves its
 * thread to the next one. A slow one leaves a busy processor to everything else.
 */
export function createRenderer({ ownFont, isSlow = false }: { ownFont: string | null; isSlow?: boolean }): Renderer {
  const data: DrawThreadData = { ownFont, niceness: isSlow ? SLOW_NICENESS : 0 };
  let thread: DrawThread | undefined;
  let line: Promise<unknown> = Promise.resolve();

  const drawNow = async (model: DocumentModel, xml: Uint8Array | null): Promise<Drawn> => {
    if (thread?.hasEnded() !== false) thread = takeResting(data) ?? openThread(data);
    const current = thread;
    try {
      return await current.draw(model, xml);
    } catch (error) {
      thread = undefined;
      await current.end();
      throw error;
    }
  };

  return {
    render(model, xml) {
      const drawn = line.then(() => drawNow(model, xml ?? null));
      line = drawn.catch(() => undefined); // the caller of the document gets the failure
      return drawn;
    },
    async close() {
      await line;
      if (thread) await rest(data, thread);
      thread = undefined;
    },
  };
}

interface DrawThread {
  /** One document at a time. */
  draw(model: DocumentModel, xml: Uint8Array | null): Promise<Drawn>;
  hasEnded(): boolean;
  end(): Promise<unknown>;
}

function openThread(data: DrawThreadData): DrawThread {
  let underWay: { resolve(drawn: Drawn): void; reject(error: Error): void } | undefined;
  let ended = false;
  const thread = startThread(data);
  thread.on('message', ({ drawn, failure }: { drawn?: Drawn; failure?: string }) => {
    if (drawn) underWay?.resolve(drawn);
    else underWay?.reject(new Error(`the document cannot be drawn: ${failure}`));
  });
  thread.on('error', (error) => underWay?.reject(error));
  thread.on('exit', (code) => {
    ended = true;
    underWay?.reject(new Error(`the drawing thread ended with ${code}`));
  });
  return {
    async draw(model, xml) {
      const drawn = new Promise<Drawn>((resolve, reject) => {
        underWay = { resolve, reject };
      });
      const timer = setTimeout(() => underWay?.reject(new Error(`not drawn within ${MOST_MS} ms`)), MOST_MS);
      try {
        thread.postMessage({ model, xml });
        return await drawn;
      } finally {
        underWay = undefined;
        clearTimeout(timer);
      }
    },
    hasEnded: () => ended,
    end: () => thread.terminate(),
  };
}

/** Threads of closed renderers by what they were started with: to load what draws takes 0.5 s of a processor. */
const resting = new Map<string, DrawThread>();

async function rest(data: DrawThreadData, thread: DrawThread): Promise<void> {
  const kind = JSON.stringify(data);
  if (resting.has(kind)) await thread.end();
  else resting.set(kind, thread);
}

function takeResting(data: DrawThreadData): DrawThread | undefined {
  const kind = JSON.stringify(data);
  const thread = resting.get(kind);
  resting.delete(kind);
  return thread?.hasEnded() === false ? thread : undefined;
}

/** The compiled file beside this one, or the source file with its loader, which threads do not inherit. */
function startThread(data: DrawThreadData): Worker {
  const options = { workerData: data, resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB } };
  const thread = import.meta.url.endsWith('.ts')
    ? new Worker(fromSource(new URL('./draw-thread.ts', import.meta.url)), { ...options, eval: true })
    : new Worker(new URL('./draw-thread.js', import.meta.url), options);
  thread.unref();
  return thread;
}

const fromSource = (file: URL): string => {
  const loader = new URL(
    'dist/esm/api/index.mjs',
    pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json')),
  );
  const [api, entry] = [JSON.stringify(loader.href), JSON.stringify(file.href)];
  return `import(${api}).then(({ register }) => { register(); return import(${entry}); });`;
};
