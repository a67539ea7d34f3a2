import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { draw } from './draw.ts';
import type { DocumentModel } from './model.ts';

export interface DrawThreadData {
  ownFont: string | null;
  /** How much less of a busy processor it gets: 0 none, 19 all. */
  niceness: number;
}

// The drawing thread: one document at a time, each answered with the result or the error.
const { ownFont, niceness } = workerData as DrawThreadData;
// On Linux this is the thread's alone; elsewhere it would be that of the whole process.
if (niceness > 0 && process.platform === 'linux') setPriority(niceness);

parentPort!.on('message', ({ model, xml }: { model: DocumentModel; xml: Uint8Array | null }) => {
  draw(model, ownFont, xml).then(
    (drawn) => parentPort!.postMessage({ drawn }),
    (error: unknown) => parentPort!.postMessage({ failure: error instanceof Error ? error.stack : String(error) }),
  );
});
