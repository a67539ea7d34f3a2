import { randomBytes, randomUUID } from 'node:crypto';
import type { Capability } from '../../platform/payments/capabilities.ts';
import type { Caller, Said } from './caller.ts';

/** Methods of the provider's test mode, by what a charge of them does. */
export interface TestMethods {
  pays: string;
  declined: string;
  late: string;
}

interface Stage {
  caller: Caller;
  methods: TestMethods;
  customer: string;
}

/** A case: `play` returns what is wrong, or nothing. */
export interface Case {
  title: string;
  needs?: Capability;
  play(stage: Stage): Promise<string | undefined>;
}

const AMOUNT = 1200;
const TOO_OLD_SECONDS = 600;

const newKey = () => `check-${randomUUID()}`;

const charge = ({ customer }: Stage, method: string, fields: object = {}) => ({
  amount: AMOUNT,
  currency: 'EUR',
  exponent: 2,
  provider_customer_id: customer,
  provider_method_id: method,
  description: 'ACM-001-002',
  metadata: { payment_id: randomUUID(), payable_type: 'Invoice', payable_id: randomUUID() },
  ...fields,
});

/** What was said, where something else was wanted. */
const unless = (isRight: boolean, said: Said): string | undefined =>
  isRight ? undefined : `${said.status} ${JSON.stringify(said.body)?.slice(0, 120)}`;

const refused = (said: Said) => unless(said.status === 422 && typeof said.body?.error?.code === 'string', said);
const notDone = (said: Said) => unless(said.status >= 400 && said.status < 500 && said.status !== 429, said);
const isId = (value: unknown) => typeof value === 'string' && value !== '';
const isPaid = ({ status, body }: Said) => status === 200 && body?.status === 'succeeded' && isId(body?.id);

/** A charge that went through. @throws Error, when it does not */
async function paid(stage: Stage): Promise<{ key: string; data: object; id: string }> {
  const [key, data] = [newKey(), charge(stage, stage.methods.pays)];
  const said = await stage.caller.post('charge.create', data, { id: key });
  if (!isPaid(said)) throw new Error(`a charge of ${stage.methods.pays} did not succeed: ${unless(false, said)}`);
  const { amount = data.amount, currency = data.currency } = said.body;
  if (amount !== data.amount || currency !== data.currency)
    throw new Error(`${data.amount} ${data.currency} was charged, and ${amount} ${currency} is answered`);
  return { key, data, id: said.body.id };
}

const same = (first: Said, second: Said): string | undefined =>
  unless(second.status === first.status && second.body?.id === first.body?.id, second);

/** What a provider has to do so that no payer pays twice, and none pays what nobody knows of. */
export const CASES: readonly Case[] = [
  {
    title: 'check is answered with 200',
    play: async ({ caller }) => {
      const said = await caller.post('check', { inbound_url: caller.inboundUrl });
      return unless(said.status === 200 && typeof said.body === 'object', said);
    },
  },
  {
    title: 'a signature made with another secret is refused',
    play: async ({ caller }) => {
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      return notDone(await caller.post('check', {}, { secret }));
    },
  },
  {
    title: 'a signature that is ten minutes old is refused',
    play: async ({ caller }) => notDone(await caller.post('check', {}, { ageSeconds: TOO_OLD_SECONDS })),
  },
  {
    title: 'a body that was changed after it was signed is refused',
    play: async ({ caller }) => notDone(await caller.post('check', {}, { otherBody: '{"type":"check"}' })),
  },
  {
    title: 'an unknown operation is refused',
    play: async ({ caller }) => notDone(await caller.post('provider.sell', {})),
  },
  {
    title: 'a customer gets an id, and the same one when the operation is repeated',
    needs: 'customers',
    play: async ({ caller }) => {
      const [id, data] = [newKey(), { name: 'Check', email: null, metadata: {} }];
      const first = await caller.post('customer.create', data, { id });
      return isId(first.body?.id)
        ? same(first, await caller.post('customer.create', data, { id }))
        : unless(false, first);
    },
  },
  {
    title: 'a charge is paid',
    needs: 'off_session_charge',
    play: async (stage) => void (await paid(stage)),
  },
  {
    title: 'a charge that is repeated is the same payment',
    needs: 'off_session_charge',
    play: async (stage) => {
      const { key, data, id } = await paid(stage);
      const again = await stage.caller.post('charge.create', data, { id: key });
      return unless(again.body?.id === id, again);
    },
  },
  {
    title: 'a charge whose answer was lost is made once',
    needs: 'off_session_charge',
    play: async (stage) => {
      const [id, data] = [newKey(), charge(stage, stage.methods.pays)];
      await stage.caller.postAndLose('charge.create', data, id);
      const first = await stage.caller.post('charge.create', data, { id });
      return isPaid(first) ? same(first, await stage.caller.post('charge.create', data, { id })) : unless(false, first);
    },
  },
  {
    title: 'two identical charges at the same moment are one payment',
    needs: 'off_session_charge',
    play: async (stage) => {
      const [id, data] = [newKey(), charge(stage, stage.methods.pays)];
      const post = () => stage.caller.post('charge.create', data, { id });
      const [first, second] = await Promise.all([post(), post()]);
      // The later one may be told to come back; then the answer is there.
      const [one, other] = [first.status === 200 ? first : await post(), second.status === 200 ? second : await post()];
      return isPaid(one) ? same(one, other) : unless(false, one);
    },
  },
  {
    title: 'the id of a charge with another amount is a conflict',
    needs: 'off_session_charge',
    play: async (stage) => {
      const { key, data } = await paid(stage);
      const other = await stage.caller.post('charge.create', { ...data, amount: AMOUNT + 1 }, { id: key });
      return unless(other.status === 409, other);
    },
  },
  {
    title: 'the id of a charge with another method is a conflict',
    needs: 'off_session_charge',
    play: async (stage) => {
      const { key, data } = await paid(stage);
      const other = { ...data, provider_method_id: stage.methods.declined };
      const said = await stage.caller.post('charge.create', other, { id: key });
      return unless(said.status === 409, said);
    },
  },
  {
    title: 'a declined charge is refused with a code, also when it is repeated',
    needs: 'off_session_charge',
    play: async (stage) => {
      const [id, data] = [newKey(), charge(stage, stage.methods.declined)];
      const post = () => stage.caller.post('charge.create', data, { id });
      const isDeclined = ({ status, body }: Said) =>
        (status === 422 || (status === 200 && body?.status === 'failed')) && isId(body?.error?.code);
      const [first, second] = [await post(), await post()];
      return unless(isDeclined(first), first) ?? unless(isDeclined(second), second);
    },
  },
  ...[0, -1, 0.5].map(
    (amount): Case => ({
      title: `a charge of ${amount} is refused`,
      needs: 'off_session_charge',
      play: async (stage) =>
        refused(await stage.caller.post('charge.create', charge(stage, stage.methods.pays, { amount }))),
    }),
  ),
  {
    title: 'a charge in something that is no currency is refused',
    needs: 'off_session_charge',
    play: async (stage) =>
      refused(await stage.caller.post('charge.create', charge(stage, stage.methods.pays, { currency: 'euro' }))),
  },
  {
    title: 'a late outcome comes by a signed event that names the payment, its amount and our metadata',
    needs: 'off_session_charge',
    play: async (stage) => {
      await stage.caller.post('check', { inbound_url: stage.caller.inboundUrl });
      const data = charge(stage, stage.methods.late);
      const said = await stage.caller.post('charge.create', data);
      if (said.status !== 202 && said.body?.status !== 'processing') return unless(false, said);
      const told = await stage.caller.event(
        (event) => event?.type === 'payment.updated' && event.data?.id === said.body.id,
      );
      if (!told) return `no event about ${said.body?.id} came to ${stage.caller.inboundUrl}`;
      if (!told.isSigned) return 'the event is not signed';
      const { amount, currency, metadata, status } = told.event.data;
      const isRight =
        status === 'succeeded' &&
        amount === data.amount &&
        currency === data.currency &&
        metadata?.payment_id === data.metadata.payment_id;
      return isRight ? undefined : JSON.stringify(told.event).slice(0, 200);
    },
  },
  {
    title: 'a payment can be read',
    needs: 'read',
    play: async (stage) => {
      const { id } = await paid(stage);
      const said = await stage.caller.post('payment.read', { id });
      return unless(said.status === 200 && said.body?.id === id && said.body?.status === 'succeeded', said);
    },
  },
  {
    title: 'reading a payment that does not exist is refused',
    needs: 'read',
    play: async ({ caller }) => refused(await caller.post('payment.read', { id: 'no-such-payment' })),
  },
  {
    title: 'a refund that is sent twice is one refund',
    needs: 'partial_refund',
    play: async (stage) => {
      const { id: payment_id } = await paid(stage);
      const [id, data] = [
        newKey(),
        { payment_id, amount: 500, currency: 'EUR', exponent: 2, reason: null, metadata: {} },
      ];
      const first = await stage.caller.post('refund.create', data, { id });
      if (!isId(first.body?.id)) return unless(false, first);
      return same(first, await stage.caller.post('refund.create', data, { id }));
    },
  },
  {
    title: 'a refund of more than was paid is refused',
    needs: 'refund',
    play: async (stage) => {
      const { id: payment_id } = await paid(stage);
      const data = { payment_id, amount: AMOUNT + 1, currency: 'EUR', exponent: 2, reason: null, metadata: {} };
      return refused(await stage.caller.post('refund.create', data));
    },
  },
  {
    title: 'a payment that has succeeded cannot be canceled',
    needs: 'cancel',
    play: async (stage) => refused(await stage.caller.post('payment.cancel', { id: (await paid(stage)).id })),
  },
  {
    title: 'a page to pay on has an address',
    needs: 'payment_page',
    play: async (stage) => {
      const { provider_method_id: _, ...data } = charge(stage, '');
      const page = { ...data, method_types: ['card'], success_url: 'https://shop.example.com/paid' };
      const said = await stage.caller.post('payment_page.create', page);
      return unless(said.status === 200 && isId(said.body?.id) && /^https?:/.test(said.body?.url), said);
    },
  },
];

export type Verdict = 'ok' | 'failed' | 'skipped';

/** Plays all cases one after the other; those of capabilities that the provider does not have are skipped. */
export async function* playCases(
  caller: Caller,
  { methods, without }: { methods: TestMethods; without: ReadonlySet<string> },
): AsyncGenerator<{ title: string; verdict: Verdict; fault: string }> {
  const stage = { caller, methods, customer: await customerOf(caller, without) };
  for (const { title, needs, play } of CASES) {
    if (needs !== undefined && without.has(needs)) yield { title, verdict: 'skipped', fault: `without ${needs}` };
    else {
      const fault = await play(stage).catch((error: Error) => error.message);
      yield { title, verdict: fault === undefined ? 'ok' : 'failed', fault: fault ?? '' };
    }
  }
}

/** A customer of the provider whose methods are charged. */
async function customerOf(caller: Caller, without: ReadonlySet<string>): Promise<string> {
  if (without.has('customers')) return `cus_${randomUUID()}`;
  const said = await caller
    .post('customer.create', { name: 'Check', email: null, metadata: {} })
    .catch(() => undefined);
  return said?.body?.id ?? '';
}
