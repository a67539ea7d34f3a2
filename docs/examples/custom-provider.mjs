// A payment provider that can be connected as `custom`, in plain Node.js. It keeps everything in memory; a real one
// stores it, above all the answers by id, because an operation that is repeated must not be done a second time.
//
//   SECRET=whsec_… PORT=4242 node custom-provider.mjs
//
// Test methods: pm_ok pays at once, pm_declined is refused, pm_late pays later and reports it, any other pays too.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

/** The signature of Standard Webhooks: HMAC-SHA256 of `id.timestamp.body` with the bytes behind `whsec_`. */
export const sign = (secret, id, at, body) =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update(`${id}.${at}.${body}`).digest('base64')}`;

function isSigned(secret, headers, body) {
  const [id, at] = [headers['webhook-id'], headers['webhook-timestamp']];
  if (!id || Math.abs(Date.now() / 1000 - Number(at)) > 300) return false;
  const expected = Buffer.from(sign(secret, id, at, body));
  const given = (headers['webhook-signature'] ?? '').split(' ').map((each) => Buffer.from(each));
  return given.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
}

export function createProvider({ secret, send = fetch }) {
  const [known, payments, refunds] = [new Map(), new Map(), new Map()]; // known: what was answered, by the id
  let inboundUrl; // where our events go: every `check` names it
  const id = (prefix) => `${prefix}_${randomUUID()}`;
  const ok = (body, status = 200) => ({ status, body });
  const refuse = (code, message = code) => ok({ error: { code, message } }, 422);

  /** Reports what became of something; a lasting provider repeats this until the answer is 200. */
  async function tell(type, data) {
    const [event, at] = [id('evt'), String(Math.trunc(Date.now() / 1000))];
    const body = JSON.stringify({ id: event, type, data });
    const headers = { 'webhook-id': event, 'webhook-timestamp': at, 'webhook-signature': sign(secret, event, at, body) };
    return inboundUrl && (await send(inboundUrl, { method: 'POST', headers, body })).status;
  }
  function charge({ amount, currency, provider_method_id: method, metadata }) {
    if (!(Number.isSafeInteger(amount) && amount > 0)) return refuse('invalid_amount');
    if (!/^[A-Z]{3}$/.test(currency)) return refuse('invalid_currency');
    if (method === 'pm_declined') return refuse('card_declined', 'The card was declined.');
    const payment = { id: id('pay'), status: 'succeeded', amount, currency, metadata };
    payments.set(payment.id, payment);
    if (method !== 'pm_late') return ok(payment);
    payment.status = 'processing';
    setTimeout(() => tell('payment.updated', Object.assign(payment, { status: 'succeeded' })).catch(() => {}), 200);
    return ok({ id: payment.id }, 202);
  }
  function refund({ payment_id: of, amount, metadata }) {
    const before = [...refunds.values()].filter((each) => each.of === of).reduce((sum, each) => sum + each.amount, 0);
    const payment = payments.get(of);
    if (payment?.status !== 'succeeded' || !(amount > 0) || before + amount > payment.amount) return refuse('too_much');
    const made = { id: id('ref'), status: 'succeeded', of, amount, metadata };
    refunds.set(made.id, made);
    return ok(made);
  }
  const cancel = (payment) =>
    payment?.status === 'processing' ? ok(Object.assign(payment, { status: 'failed' })) : refuse('not_cancelable');
  const found = (record) => (record ? ok(record) : refuse('not_found'));
  const page = () => ok({ id: id('page'), url: `https://pay.example.com/${randomUUID()}` });
  const operations = {
    check: (data) => ((inboundUrl = data.inbound_url ?? inboundUrl), ok({ live: false })),
    'customer.create': () => ok({ id: id('cus') }),
    'methods.list': () => ok({ methods: [{ id: 'pm_ok', type: 'card' }] }),
    'setup_page.create': page,
    'payment_page.create': page,
    'page.expire': (data) => ok({ id: data.id }),
    'charge.create': charge,
    'payment.read': (data) => found(payments.get(data.id)),
    'payment.cancel': (data) => cancel(payments.get(data.id)),
    'refund.create': refund,
    'refund.read': (data) => found(refunds.get(data.id)),
    'payments.list': () => ok({ payments: [...payments.values()].reverse(), next: null }),
  };

  /** The answer to one operation. The same id and content get the same answer, the same id and other content 409. */
  function answer(headers, body) {
    if (!isSigned(secret, headers, body)) return ok({}, 401);
    const { id: key, type, data } = JSON.parse(body);
    const [content, before] = [JSON.stringify([type, data]), known.get(key)];
    if (before) return before.content === content ? before.answer : ok({}, 409);
    const given = Object.hasOwn(operations, type) ? operations[type](data) : refuse('unknown_operation');
    known.set(key, { content, answer: structuredClone(given) });
    return given;
  }

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { status, body } = answer(request.headers, Buffer.concat(chunks).toString());
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return { server, answer, tell, payments, refunds };
}

if (process.argv[1]?.endsWith('custom-provider.mjs')) {
  const secret = process.env.SECRET ?? '';
  if (!secret.startsWith('whsec_')) throw new Error('Set SECRET to the shared secret: whsec_…');
  const { server } = createProvider({ secret });
  server.listen(Number(process.env.PORT ?? 4242), () => console.log(`listening on ${server.address().port}`));
}
