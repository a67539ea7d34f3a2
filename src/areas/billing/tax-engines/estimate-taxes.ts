import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Config } from '../../../platform/config.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { type IntegrationId, newId, type OrganizationId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { EstimatedTaxes, TaxDocument } from '../../../platform/taxes/port.ts';
import { engineOf, taxEngineCalls } from '../../customers/integrations/engine.ts';

/** Longest wait of a caller for a tax engine, and how much of it may be spent until the connection may be called. */
const TIMEOUT_MS = 3000;
const LONGEST_TURN_MS = 1000;

/**
 * Asks the engine what a document would be taxed, without a record there, for a caller who waits. Such calls keep to
 * the pace of the connection, and hold up the calls of jobs for a second at most.
 *
 * @throws Refusal 422 tax_error, with the engine's code
 * Rule: tax-engines.md#when-an-engine-is-asked.
 */
export async function estimateTaxes(
  deps: { db: Db; config: Config; redis?: Redis | undefined },
  organization: { id: OrganizationId; sandbox: boolean },
  { integrationId, document }: { integrationId: IntegrationId; document: TaxDocument },
): Promise<EstimatedTaxes> {
  const engine = await engineOf(deps, organization, integrationId);
  const waitMs = organization.sandbox ? 0 : await turnOf(deps, integrationId);
  if (waitMs === undefined) throw refuse.invalid({ tax_error: ['too_many_requests'] });
  await wait(waitMs);
  const outcome = await engine?.estimate(document, TIMEOUT_MS - waitMs);
  if (outcome?.kind === 'answered') return { document, answer: outcome.answer };
  throw refuse.invalid({ tax_error: [outcome?.fault.code ?? 'unauthorized'] });
}

/** How long to wait for the turn; undefined when that is too long. While Redis is away nobody is paced. */
async function turnOf(
  { redis, config }: { redis?: Redis | undefined; config: Config },
  integrationId: IntegrationId,
): Promise<number | undefined> {
  if (redis === undefined) return 0;
  return taxEngineCalls(
    { redis, config },
    { isWaited: true },
  )(newId())
    .takeTurnWithin(integrationId, LONGEST_TURN_MS)
    .catch(() => 0);
}
