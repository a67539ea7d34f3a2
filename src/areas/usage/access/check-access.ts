import type { Context } from '../../../platform/context.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import { noteFallback } from '../../../platform/redis/fallbacks.ts';
import { answerOf } from './access-answer.ts';
import { type AccessFacts, exactFacts, holdAt, readFacts } from './access-facts.ts';
import { withBudgets } from './budget-advice.ts';
import { type AccessCounters, FRESH_MS, openCounters } from './counters.ts';
import type { AccessCheck, AccessQuery, AccessView } from './schema.ts';

/**
 * Whether a customer may do something now: it has the feature, stays within its usage limits, has credit and owes
 * nothing, and budgets that are asked have room. Reasons against it are returned, never thrown. One call to Redis and
 * no statement when the subscription's facts are kept there; else they are read from Postgres and kept. With `exact`,
 * or while Redis is away, only Postgres is read; budgets always are. With a hold it is a command.
 *
 * Rule: access-check.md.
 */
export const checkAccess = async (
  ctx: Context,
  input: { body: AccessCheck; query?: AccessQuery },
): Promise<{ access: AccessView }> => withBudgets(ctx, await answerFromFacts(ctx, input), input.body);

async function answerFromFacts(
  ctx: Context,
  { body, query }: { body: AccessCheck; query?: AccessQuery },
): Promise<{ access: AccessView }> {
  const now = ctx.now();
  const counters = ctx.redis && !query?.exact ? openCounters(ctx.redis, ctx.config.REDIS_PREFIX) : undefined;
  if (!counters) return answerOf(await exactFacts(ctx, body), body, { source: 'database', now });

  const externalId = body.external_subscription_id;
  const kept = await counters
    .read(ctx.organizationId, externalId)
    .catch((error) => noteFallback(ctx.redis!, 'access checks', error));
  if (kept && holdAt(kept.facts, now)) {
    if (kept.ageMs > FRESH_MS) void rebuild(ctx, counters, externalId).catch(() => {}); // the cached facts expire by
    // themselves
    return answerOf(kept.facts, body, { source: 'counter', now });
  }
  const facts = (await rebuild(ctx, counters, externalId)) ?? (await exactFacts(ctx, body));
  return answerOf(facts, body, { source: 'database', now });
}

/**
 * Reads all facts of a subscription and keeps them; undefined when another request is reading them, or Redis is away.
 */
async function rebuild(ctx: Context, counters: AccessCounters, externalId: string): Promise<AccessFacts | undefined> {
  const { organizationId } = ctx;
  const opened = await counters
    .open(organizationId, externalId)
    .catch((error) => noteFallback(ctx.redis!, 'access checks', error));
  if (!opened) return undefined;
  const facts = (await (ctx.db as Sql).begin('isolation level repeatable read read only', (tx) =>
    readFacts({ db: tx, organizationId }, externalId, { now: ctx.now(), needed: 'all' }),
  )) as AccessFacts;
  await counters
    .store(organizationId, externalId, opened, facts)
    .catch((error) => noteFallback(ctx.redis!, 'access checks', error)); // the next check reads the facts again
  return facts;
}
