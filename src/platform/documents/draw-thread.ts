import { parentPort, workerData } from 'node:worker_threads';
import { draw } from './draw.ts';
import type { DocumentModel } from './model.ts';

// The thread that draws: one document at a time, each answered by its bytes or by what went wrong.
const { fallbackFont } = workerData as { fallbackFont: string | null };

parentPort!.on('message', (model: DocumentModel) => {
  draw(model, fallbackFont).then(
    (bytes) => parentPort!.postMessage({ bytes }),
    (error: unknown) => parentPort!.postMessage({ failure: error instanceof Error ? error.stack : String(error) }),
  );
});
