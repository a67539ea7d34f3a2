import { createServer } from 'node:http';

/**
 * An account at a provider of payments, on PORT: the lists that are read to compare it with ours, without waiting. It
 * holds BENCH_PAYMENTS payments, newest first, each made from its number, and neither refunds nor disputes.
 */
const COUNT = Number(process.env.BENCH_PAYMENTS);
const PREFIX = 'pi_bench_';
const LIMIT_MAX = 100;
const made = Math.trunc(Date.now() / 1000) - 86_400;

const payment = (number: number) => ({
  id: `${PREFIX}${number}`,
  object: 'payment_intent',
  amount: 1200,
  amount_received: 1200,
  currency: 'usd',
  status: 'succeeded',
  created: made,
  metadata: {},
});

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://127.0.0.1');
  const after = searchParams.get('starting_after');
  const newest = after === null ? COUNT : Number(after.slice(PREFIX.length)) - 1;
  const limit = Math.min(LIMIT_MAX, Number(searchParams.get('limit') ?? LIMIT_MAX));
  const size = pathname === '/v1/payment_intents' ? Math.min(limit, newest) : 0;
  const data = Array.from({ length: size }, (_, place) => payment(newest - place));
  const body = { object: 'list', url: pathname, has_more: size > 0 && newest > size, data };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}).listen(Number(process.env.PORT), '127.0.0.1', () => process.send?.('ready'));
process.once('SIGTERM', () => process.exit(0));
