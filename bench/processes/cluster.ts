import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';

/** BENCH_COPIES probe ingresses behind one port, as pm2's cluster mode starts them. */
const copies = Number(process.env.BENCH_COPIES);
cluster.setupPrimary({ exec: fileURLToPath(new URL('probe-ingress.js', import.meta.url)) });
let ready = 0;
cluster.on('message', (_worker, message) => {
  if (message !== 'ready') return;
  ready += 1;
  if (ready === copies) process.send?.('ready');
});
for (let copy = 0; copy < copies; copy += 1) cluster.fork();
process.once('SIGTERM', () => {
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
  cluster.disconnect(() => process.exit(0));
});
