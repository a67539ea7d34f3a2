import { toWire } from '../../../engine/money/wire.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import { takeInTurn } from '../../../platform/db/rows-in-turn.ts';
import type { AuthorizationId, OrganizationId, PaymentProviderId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import {
  type ChargeOutcome,
  type ChargeRequest,
  ProviderRefusal,
  TooManyCalls,
} from '../../../platform/payments/port.ts';
import { wireOf } from '../../../platform/payments/providers.ts';
import type { SweepJob } from '../../../platform/periodic-job.ts';
import { answeredInTime, type PreStep } from '../../../platform/pre-step.ts';
import type { SystemDeps } from '../../../platform/records/system-transaction.ts';
import { transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage, refuse } from '../../../platform/refusal.ts';
import { findCustomer } from '../../customers/customers/queries.ts';
import { findMethod } from '../../customers/payment-methods/queries.ts';
import type { Authorized } from '../../subscriptions/subscriptions/commands/authorization.ts';
import { noteDrift } from '../provider-drifts/writes.ts';
import { connected, isKeyForgotten, type NetworkDeps } from '../provider-network/network.ts';

/** An authorization with this age belongs to no command that is still under way. */
const LEFT_AFTER_MINUTES = 2;
/** How often a release is owed; afterwards a person has to look, and the provider lets it expire within a week. */
const MOST_ATTEMPTS = 12;
/** How many of one organization are owed at once. */
const AT_ONCE_OF_ORGANIZATION = 100;

interface AuthorizationRow {
  id: AuthorizationId;
  connection_id: PaymentProviderId;
  command_id: string;
  provider_customer_id: string;
  provider_method_id: string;
  provider_payment_id: string | null;
  amount_cents: number;
  currency: string;
  status: 'asked' | 'held' | 'refused' | 'released';
  released_at: ReturnType<typeof realNow> | null;
  created_at: ReturnType<typeof realNow>;
}

/**
 * Pre-step of `POST /subscriptions` with `authorization`: has the amount reserved at the provider of the method. The
 * row is committed before the call, so a process that dies leaves nothing that nobody knows. A double decides in the
 * command itself.
 *
 * @throws Refusal 422 authorization.amount_cents value_is_invalid; provider_error, also without an answer
 *   (provider_unreachable); 429
 * Rule: subscriptions.md#authorization.
 */
export const askForAuthorization: PreStep = async (deps, { organizationId, commandId, input: { body } }) => {
  const scope = { db: deps.sql, organizationId };
  const customer = await findCustomer(scope, body.external_customer_id);
  const named = body.payment_method?.payment_method_id ?? null;
  const method = customer && (await findMethod(scope, customer.id, named));
  if (!method || method.details.behaviour) return undefined;
  const { amount_cents: cents, amount_currency: currency } = body.authorization;
  const connection = await connected(deps, organizationId, method.payment_provider_id);
  if (!connection?.provider.authorize) return undefined;
  const amount = toWire(wireOf(connection.row.provider_type, connection.row.settings), cents, currency);
  if (!amount || amount.wire === 0) throw refuse.invalid({ 'authorization.amount_cents': ['value_is_invalid'] });
  const row = await noteAsked(deps, organizationId, {
    connection_id: method.payment_provider_id,
    command_id: commandId,
    provider_customer_id: method.provider_customer_id,
    provider_method_id: method.provider_method_id,
    amount_cents: amount.chargedCents,
    currency,
  });
  const unreachable = () =>
    refuse.provider(method.provider_code, {
      code: 'provider_unreachable',
      message: 'The provider did not answer in time.',
    });
  // It took so long that it was released meanwhile.
  if (row.released_at !== null) throw unreachable();
  const outcome = await answeredInTime(connection.provider.authorize(requestOf(row))).catch((error: unknown) => error);
  if (outcome instanceof TooManyCalls) {
    await noteRefused(deps, organizationId, row.id);
    throw refuse.tooManyProviderRequests(method.provider_type, outcome.message, outcome.retryAfterMs);
  }
  if (outcome instanceof Outage) throw unreachable();
  if (outcome instanceof Error) throw outcome;
  const answer = outcome as ChargeOutcome;
  if (isUnknown(answer)) throw unreachable();
  const heldId = await noteAnswer(deps, organizationId, row.id, answer);
  if (heldId !== null && answer.kind === 'answered' && answer.status === HELD)
    return {
      authorizationId: row.id,
      methodId: method.id,
      view: {
        id: heldId,
        object: 'payment_intent',
        amount: row.amount_cents,
        amount_capturable: row.amount_cents,
        status: HELD,
      },
    } satisfies Authorized;
  if (heldId !== null)
    await deps.producer.add('payment.release-authorization', {
      organization_id: organizationId,
      authorization_id: row.id,
    });
  throw refuse.provider(method.provider_code, errorOf(answer));
};

/** Whether an amount may be reserved there under an id that we do not know. */
const isUnknown = (outcome: ChargeOutcome): outcome is Extract<ChargeOutcome, { kind: 'unreachable' | 'conflict' }> =>
  outcome.kind === 'unreachable' || outcome.kind === 'conflict';

/** Word of the provider for an amount that is reserved and not taken. */
const HELD = 'requires_capture';

function errorOf(answer: ChargeOutcome): { code: string; message: string } {
  const asks = answer.kind === 'authentication_required' || (answer.kind === 'answered' && answer.nextAction);
  if (asks) return { code: 'authentication_required', message: 'The customer has to confirm.' };
  return answer.error ?? { code: 'authorization_failed', message: 'The amount was not authorized.' };
}

const requestOf = (row: AuthorizationRow): ChargeRequest => ({
  idempotencyKey: `authorization-${row.command_id}`,
  amountCents: row.amount_cents,
  currency: row.currency,
  providerCustomerId: row.provider_customer_id,
  providerMethodId: row.provider_method_id,
  description: '',
  metadata: { authorization_id: row.id },
});

/** The row of a command, made by its first delivery. */
async function noteAsked(
  { sql }: SystemDeps,
  organizationId: OrganizationId,
  asked: Pick<
    AuthorizationRow,
    'connection_id' | 'command_id' | 'provider_customer_id' | 'provider_method_id' | 'amount_cents' | 'currency'
  >,
): Promise<AuthorizationRow> {
  await sql`
    insert into authorizations ${sql({
      id: newId(),
      organization_id: organizationId,
      ...asked,
      created_at: realNow().toString(),
      updated_at: realNow().toString(),
    })}
    on conflict on constraint authorizations_command_key do nothing`;
  const [row] = await sql<AuthorizationRow[]>`
    select id, connection_id, command_id, provider_customer_id, provider_method_id, provider_payment_id, amount_cents,
      currency, status, released_at, created_at
    from authorizations where organization_id = ${organizationId} and command_id = ${asked.command_id}`;
  return row!;
}

/** Nothing is reserved, so nothing has to be released. */
const noteRefused = ({ sql }: SystemDeps, organizationId: OrganizationId, id: AuthorizationId) => sql`
  update authorizations set status = 'refused', released_at = ${realNow()}, updated_at = ${realNow()}
  where organization_id = ${organizationId} and id = ${id} and released_at is null`;

/** Stores what the provider answered; returns its id of what may be reserved there, and has to be released. */
async function noteAnswer(
  deps: SystemDeps,
  organizationId: OrganizationId,
  id: AuthorizationId,
  answer: ChargeOutcome,
): Promise<string | null> {
  const isOver = answer.kind === 'answered' && answer.paymentStatus === 'failed';
  const paymentId = 'providerPaymentId' in answer ? (answer.providerPaymentId ?? null) : null;
  if (isOver || paymentId === null) {
    await noteRefused(deps, organizationId, id);
    return null;
  }
  await deps.sql`
    update authorizations set status = 'held', provider_payment_id = ${paymentId}, updated_at = ${realNow()}
    where organization_id = ${organizationId} and id = ${id} and released_at is null`;
  return paymentId;
}

/**
 * Job `payment.release-authorization`: cancels an authorization at its provider. One whose answer is not known is sent
 * once more with its key, which tells its id.
 *
 * @throws Outage, when its outcome is unknown: the sweep tries again
 * Rule: subscriptions.md#authorization.
 */
export async function releaseAuthorization(
  deps: NetworkDeps,
  {
    organization_id: organizationId,
    authorization_id: id,
  }: { organization_id: OrganizationId; authorization_id: AuthorizationId },
): Promise<void> {
  const [row] = await deps.sql<AuthorizationRow[]>`
    select id, connection_id, command_id, provider_customer_id, provider_method_id, provider_payment_id,
      amount_cents, currency, status, released_at, created_at
    from authorizations where organization_id = ${organizationId} and id = ${id} and released_at is null`;
  const connection = row && (await connected(deps, organizationId, row.connection_id));
  if (!row || !connection?.provider.authorize) return;
  const { provider } = connection;
  let paymentId = row.provider_payment_id;
  if (paymentId === null) {
    // Sent under a forgotten key it would be a second one.
    if (isKeyForgotten(connection.row, row.created_at)) return;
    const outcome = await provider.authorize!(requestOf(row));
    if (isUnknown(outcome)) throw new Outage(connection.row.provider_type, outcome.error.message);
    paymentId = await noteAnswer(deps, organizationId, id, outcome);
    if (paymentId === null) return;
  }
  try {
    await provider.cancel(paymentId);
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    // It has ended by itself, or its connection no longer accepts us: only the provider's state tells.
    const now = await provider.readPayment(paymentId);
    if (now.kind !== 'answered' || now.status === HELD) throw new Outage(connection.row.provider_type, error);
  }
  await deps.sql`
    update authorizations set status = 'released', released_at = ${realNow()}, updated_at = ${realNow()}
    where organization_id = ${organizationId} and id = ${id} and released_at is null`;
}

/**
 * Releases authorizations that nobody has released: of commands that were refused afterwards or whose process died, and
 * those whose release failed, 12 times in all with growing pauses. The queue's own attempts and the waits for a turn do
 * not count. One that is left after that is reported. Rule: periodic-jobs.md#release-authorizations.
 */
export const releaseAuthorizations: SweepJob = {
  name: 'release-authorizations',
  async sweep(deps, at) {
    const { sql, producer, log } = deps;
    const isOpen = sql`record.released_at is null
      and record.created_at < ${at.subtract({ minutes: LEFT_AFTER_MINUTES })}
      and record.updated_at < ${at}::timestamptz - make_interval(mins => record.attempts)`;
    const owed = await takeInTurn<AuthorizationId>(sql, at, {
      table: 'authorizations',
      stamp: 'updated_at',
      mostOfOrganization: AT_ONCE_OF_ORGANIZATION,
      due: sql`${isOpen} and record.attempts < ${MOST_ATTEMPTS}`,
      also: sql`, attempts = record.attempts + 1`,
    });
    await producer.addMany(
      'payment.release-authorization',
      owed.map(({ organization_id, id }) => ({
        payload: { organization_id, authorization_id: id },
        options: { id: `release-${id}`, forgetFailed: true },
      })),
    );
    const given = await takeInTurn<AuthorizationId>(sql, at, {
      table: 'authorizations',
      stamp: 'updated_at',
      due: sql`${isOpen} and record.attempts >= ${MOST_ATTEMPTS} and not exists (
        select from provider_drifts drift
        where drift.connection_id = record.connection_id and drift.kind = 'authorization_open'
          and drift.provider_object_id = record.id::text and drift.status in ('open', 'resolved'))`,
    });
    for (const { organization_id, id } of given) {
      log.error({ organization_id, authorizationId: id }, 'an authorization could not be released at its provider');
      await noteOpen(deps, organization_id, id);
    }
  },
};

/** An authorization that nobody releases any more is a difference at its provider, which a person can release again. */
async function noteOpen(deps: SystemDeps, organizationId: OrganizationId, id: AuthorizationId): Promise<void> {
  await transactHoldingClock(deps, organizationId, async (ctx) => {
    const [held] = await ctx.db<AuthorizationRow[]>`
      select connection_id, provider_payment_id, amount_cents, currency, status from authorizations
      where organization_id = ${organizationId} and id = ${id} and released_at is null`;
    if (!held) return;
    const { connection_id, provider_payment_id, amount_cents, currency, status } = held;
    await noteDrift(ctx, connection_id, {
      kind: 'authorization_open',
      objectId: id,
      ours: { status, amount_cents, currency, provider_payment_id },
      theirs: null,
      paymentId: null,
      customerId: null,
    });
  });
}
