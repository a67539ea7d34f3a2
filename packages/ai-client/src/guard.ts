import { currentContext, type Properties, withHold } from './context.ts';
import { Hold } from './hold.ts';
import { type Meterstone, pathOf } from './meterstone.ts';

const TIMEOUT_MS = 5000;
const RETRY_MS = 200;

export interface GuardOptions {
  to: Meterstone;
  /** What the call may use at most: `{ provider, model, parts }`, or `input_tokens` and `max_output_tokens`. */
  estimate?: object;
  /** Instead: a figure of money, in cents. */
  amount?: string;
  subscription?: string;
  properties?: Properties;
  /** Code of the events, `ai_usage` unless the organization has another one. */
  code?: string;
  expiresInSeconds?: number;
  /** How long the decision may take, 5 s. */
  timeoutMs?: number;
}

interface Budget {
  code: string;
  measure: string;
  requested: string;
}

interface Decision {
  allowed: boolean;
  reasons: string[];
  exceeded?: string[];
  budgets: Budget[];
  outage: { mode: 'open' | 'closed'; allowance: string };
}

/** Budgets have no room for the call. */
export class BudgetRefused extends Error {
  readonly decision: Decision;

  constructor(decision: Decision) {
    super(`budgets refuse the call: ${[...decision.reasons, ...(decision.exceeded ?? [])].join(', ')}`);
    this.name = 'BudgetRefused';
    this.decision = decision;
  }
}

/** The service cannot decide, and its last answer does not allow to go on without it. */
export class BudgetUnavailable extends Error {}

/** What the last answer allows while there is none, and what was spent of it since. */
interface Outage {
  isOpen: boolean;
  allowance: bigint;
  spent: bigint;
  requested: bigint;
}

const outages = new WeakMap<Meterstone, Map<string, Outage>>();

/**
 * Holds the budgets of a call while it runs. The first metered call within `work` settles the hold at its end, that of
 * a stream when the stream ends; a call that used nothing releases it.
 *
 * @throws BudgetRefused, BudgetUnavailable; what `work` throws
 */
export async function guard<Result>(options: GuardOptions, work: () => PromiseLike<Result>): Promise<Result> {
  const { to, subscription = currentContext().subscription, properties = {} } = options;
  if (subscription === undefined) throw new TypeError('a guarded call has a subscription');
  const context = { subscription, properties };
  const key = crypto.randomUUID();
  const decision = await decided(options, { key, subscription });
  if (decision === 'without') return withHold(noHold(), context, work);
  const hold = new Hold(key, heldAmount(decision));
  try {
    return await withHold(hold, context, work);
  } finally {
    if (!hold.isTaken) to.later(`/budget_holds/${pathOf(hold)}/release`, {});
  }
}

/** Calls without a decision settle nothing. */
function noHold(): Hold {
  const hold = new Hold('', undefined);
  hold.take();
  return hold;
}

/** The largest figure of money that was held. */
const heldAmount = ({ budgets }: Decision): string | undefined =>
  budgets
    .filter(({ measure }) => measure === 'cost' || measure === 'amount')
    .map(({ requested }) => requested)
    .sort((a, b) => (scaled(a) < scaled(b) ? 1 : -1))[0];

const DIGITS = 18;

/** A plain decimal as a whole number of its 18th digits, so that sums are exact. */
function scaled(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, '0'));
}

/** @throws BudgetRefused, BudgetUnavailable, Error of a question that is wrong */
async function decided(
  options: GuardOptions,
  { key, subscription }: { key: string; subscription: string },
): Promise<Decision | 'without'> {
  const { to, estimate, amount, code, expiresInSeconds, timeoutMs = TIMEOUT_MS } = options;
  const known = outages.get(to) ?? new Map<string, Outage>();
  outages.set(to, known);
  const asked = {
    hold_key: key,
    external_subscription_id: subscription,
    code: code ?? 'ai_usage',
    properties: { ...currentContext().properties, ...options.properties },
    ...(estimate === undefined ? {} : { estimate }),
    ...(amount === undefined ? {} : { amount }),
    ...(expiresInSeconds === undefined ? {} : { expires_in_seconds: expiresInSeconds }),
  };
  const decision = await ask(to, asked, performance.now() + timeoutMs);
  const outage = known.get(subscription);
  if (decision === undefined) {
    if (!outage?.isOpen) throw new BudgetUnavailable('the service cannot decide about budgets');
    const spent = outage.spent + (amount === undefined ? outage.requested : scaled(amount));
    if (spent > outage.allowance) throw new BudgetUnavailable('what may be spent without the service is spent');
    outage.spent = spent;
    return 'without';
  }
  known.set(subscription, {
    isOpen: decision.outage.mode === 'open',
    allowance: scaled(decision.outage.allowance),
    spent: 0n,
    requested: scaled(heldAmount(decision) ?? '0'),
  });
  if (!decision.allowed) throw new BudgetRefused(decision);
  return decision;
}

/** The same question until it is answered; undefined when the time is over. @throws Error of a question that is wrong */
async function ask({ options }: Meterstone, decision: object, untilMs: number): Promise<Decision | undefined> {
  const { url, key, fetch: used } = options;
  for (;;) {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) return undefined;
    try {
      const response = await used(`${url}/budget_decisions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ decision }),
        signal: AbortSignal.timeout(Math.ceil(leftMs)),
      });
      const text = await response.text();
      if (response.status === 200) return (JSON.parse(text) as { decision: Decision }).decision;
      if (response.status < 500 && response.status !== 429) throw new WrongQuestion(`${response.status} ${text}`);
    } catch (error) {
      if (error instanceof WrongQuestion) throw error;
    }
    const pauseMs = Math.min(RETRY_MS, Math.max(0, untilMs - performance.now()));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

class WrongQuestion extends Error {}
