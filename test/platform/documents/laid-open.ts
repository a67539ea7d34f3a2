import { inflateSync } from 'node:zlib';

/** Everything readable in a PDF: its objects, and its compressed streams laid open. */
export function laidOpen(bytes: Uint8Array): string {
  const raw = Buffer.from(bytes).toString('latin1');
  const streams = [...raw.matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)].map(([, data]) => {
    try {
      return inflateSync(Buffer.from(data!, 'latin1')).toString('latin1');
    } catch {
      return '';
    }
  });
  return raw + streams.join('\n');
}
