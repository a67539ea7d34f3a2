import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, OrganizationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import { stepJob } from '../../../platform/records/nudge.ts';
import type { StepPayload } from '../../../steps.ts';
import type { EventToMatch } from '../match-events/match-event.ts';
import type { HEAL_PRICES_STEP, TELL_UNKNOWN_MODELS_STEP } from '../unpriced-events/count-unpriced.ts';
import type { MatchedEvent } from './match-all.ts';
import {
  type EventForWallet,
  findMissingWallets,
  type MissingWallets,
  TELL_MISSING_WALLETS_STEP,
} from './missing-wallets.ts';

/** Name of the owed work that bills events in advance. */
const BILL_IN_ADVANCE_STEP = 'bill-in-advance';
/** How many events one step treats, which is one transaction with the customer's row locked. */
const MOST_EVENTS = 20;

export type BillInAdvance = StepPayload<typeof BILL_IN_ADVANCE_STEP>;

/** A stored step with the customer whose rows it locks. */
interface StoredStep {
  id: string;
  organization_id: OrganizationId;
  customer_id: CustomerId | null;
}

/** The after-steps that stored events leave: those that bill them in advance, and those that report what is missing. */
export interface OwedInAdvance {
  readonly steps: StoredStep[];
  /** Owes the steps of matched events, and others, in the transaction that ends their batches. */
  store(
    tx: Db,
    matched: readonly MatchedEvent<EventForWallet & { unpriced?: object | null }>[],
    others: readonly NewStep[],
  ): Promise<void>;
  /** After the commit: enqueues the jobs of all steps. The row sweeper makes up for lost ones. */
  nudge(producer: Pick<Producer, 'addMany'>): Promise<void>;
}

export function createOwed(): OwedInAdvance {
  const steps: OwedInAdvance['steps'] = [];
  return {
    steps,
    async store(tx, matched, others) {
      const own = [...stepsOf(matched), ...walletSteps(await findMissingWallets(tx, matched)), ...others];
      if (own.length === 0) return;
      const now = realNow();
      const stored = await tx<StoredStep[]>`
        insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
        select id, organization_id, job, payload, ${now}, ${now}
        from jsonb_to_recordset(${json(own)}::jsonb) as step (id uuid, organization_id uuid, job text, payload jsonb)
        returning id, organization_id, customer_of_work(organization_id, payload) as customer_id`;
      steps.push(...stored);
    },
    async nudge(producer) {
      if (steps.length === 0) return;
      const jobs = steps.map((step) => stepJob(step));
      await producer.addMany('step.run', jobs).catch(() => {}); // see above
    },
  };
}

type NewStep = { id: string; organization_id: OrganizationId } & (
  | { job: typeof BILL_IN_ADVANCE_STEP; payload: BillInAdvance }
  | { job: typeof TELL_MISSING_WALLETS_STEP; payload: MissingWallets }
  | { job: typeof TELL_UNKNOWN_MODELS_STEP; payload: StepPayload<typeof TELL_UNKNOWN_MODELS_STEP> }
  | { job: typeof HEAL_PRICES_STEP; payload: StepPayload<typeof HEAL_PRICES_STEP> }
);

/** One step for several events of a subscription. */
function stepsOf(matched: readonly MatchedEvent<EventToMatch & { unpriced?: object | null }>[]): NewStep[] {
  const bySubscription = new Map<string, { organizationId: OrganizationId; ids: string[] }>();
  for (const { event, subscription, isPaidInAdvance } of matched) {
    // A call without an amount is billed once it has one (price-book.md#healing).
    if (!isPaidInAdvance || !subscription || event.unpriced) continue;
    const known = bySubscription.get(subscription.id);
    if (known) known.ids.push(event.id);
    else bySubscription.set(subscription.id, { organizationId: event.organization_id, ids: [event.id] });
  }
  return [...bySubscription].flatMap(([subscriptionId, { organizationId, ids }]) => {
    const sorted = ids.sort();
    return Array.from({ length: Math.ceil(sorted.length / MOST_EVENTS) }, (_, piece) => ({
      id: newId(),
      organization_id: organizationId,
      job: BILL_IN_ADVANCE_STEP,
      payload: {
        subscription_id: subscriptionId,
        event_ids: sorted.slice(piece * MOST_EVENTS, (piece + 1) * MOST_EVENTS),
      },
    }));
  });
}

const walletSteps = (missing: Map<string, string[]>): NewStep[] =>
  [...missing].map(([organizationId, ids]) => ({
    id: newId(),
    organization_id: organizationId,
    job: TELL_MISSING_WALLETS_STEP,
    payload: { event_ids: ids },
  }));
