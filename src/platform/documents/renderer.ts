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
 * seconds. The thread starts with the first document, and a failed thread is replaced. A slow one leaves a busy
 * processor to everything else.
 */
export function createRenderer({ ownFont, isSlow = false }: { ownFont: string | null; isSlow?: boolean }): Renderer {
  let thread: Worker | undefined;
  let line: Promise<unknown> = Promise.resolve();
  let underWay: { resolve(drawn: Drawn): void; reject(error: Error): void } | undefined;

  const start = (): Worker => {
    const started = startThread({ ownFont, niceness: isSlow ? SLOW_NICENESS : 0 });
    started.on('message', ({ drawn, failure }: { drawn?: Drawn; failure?: string }) => {
      if (drawn) underWay?.resolve(drawn);
      else underWay?.reject(new Error(`the document cannot be drawn: ${failure}`));
    });
    started.on('error', (error) => underWay?.reject(error));
    started.on('exit', (code) => {
      if (thread === started) thread = undefined;
      underWay?.reject(new Error(`the drawing thread ended with ${code}`));
    });
    return started;
  };

  const drawNow = async (model: DocumentModel, xml: Uint8Array | null): Promise<Drawn> => {
    thread ??= start();
    const current = thread;
    const drawn = new Promise<Drawn>((resolve, reject) => {
      underWay = { resolve, reject };
    });
    const timer = setTimeout(() => underWay?.reject(new Error(`not drawn within ${MOST_MS} ms`)), MOST_MS);
    try {
      current.postMessage({ model, xml });
      return await drawn;
    } catch (error) {
      if (thread === current) thread = undefined;
      await current.terminate();
      throw error;
    } finally {
      underWay = undefined;
      clearTimeout(timer);
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
      await thread?.terminate();
    },
  };
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
