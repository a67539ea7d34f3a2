import { parentPort, workerData } from 'node:worker_threads';
import { draw } from './draw.ts';
import type { DocumentModel } from './model.ts';

// The drawing thread: one document at a time, each answered with the result or the error.
const { ownFont } = workerData as { ownFont: string | null };

parentPort!.on('message', ({ model, xml }: { model: DocumentModel; xml: Uint8Array | null }) => {
  draw(model, ownFont, xml).then(
    (drawn) => parentPort!.postMessage({ drawn }),
    (error: unknown) => parentPort!.postMessage({ failure: error instanceof Error ? error.stack : String(error) }),
  );
});
