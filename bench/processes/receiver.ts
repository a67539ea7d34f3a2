import { createServer } from 'node:http';

/** Receiver of webhooks on BENCH_ORIGINS ports from PORT on: reads the body and answers 200 at once. */
const first = Number(process.env.PORT);
const origins = Number(process.env.BENCH_ORIGINS);
let listening = 0;
for (let index = 0; index < origins; index += 1) {
  createServer((request, response) => {
    request.resume();
    request.once('end', () => response.end('ok'));
  }).listen(first + index, '127.0.0.1', () => {
    listening += 1;
    if (listening === origins) process.send?.('ready');
  });
}
process.once('SIGTERM', () => process.exit(0));
