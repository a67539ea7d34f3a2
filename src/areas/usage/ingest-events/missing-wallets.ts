import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { EventId, OrganizationId } from '../../../platform/ids.ts';
import type { StepPayload } from '../../../steps.ts';
import { listEventsById } from '../events/queries.ts';
import { plainArray, textArray } from '../events/storage/array-literal.ts';
import { eventText } from '../events/view.ts';
import type { EventToMatch } from '../match-events/match-event.ts';
import type { MatchedEvent } from './match-all.ts';

/** Name of the owed work that reports events naming a wallet which their customer does not have. */
export const TELL_MISSING_WALLETS_STEP = 'tell-missing-wallets';
const UNPROCESSABLE = 422;

/** Payload of that step: stored events of one organization. */
export type MissingWallets = StepPayload<typeof TELL_MISSING_WALLETS_STEP>;

/** A stored event with the wallet it is meant for. */
export interface EventForWallet extends EventToMatch {
  target_wallet_code: string | null;
}

/**
 * Ids, by organization, of the events that name a wallet which their customer does not have, on a plan with a charge
 * that accepts wallets. One statement, and none when no event names a wallet. Rule: events.md#after-storing (4).
 */
export async function findMissingWallets(
  tx: Db,
  matched: readonly MatchedEvent<EventForWallet>[],
): Promise<Map<string, string[]>> {
  const named = matched.filter(({ event, subscription, acceptsTargetWallet }) => {
    return event.target_wallet_code !== null && subscription !== undefined && acceptsTargetWallet;
  });
  const found = new Map<string, string[]>();
  if (named.length === 0) return found;
  for (const { organization_id, event_id } of await listMissing(tx, named)) {
    const ids = found.get(organization_id) ?? [];
    ids.push(event_id);
    found.set(organization_id, ids);
  }
  return found;
}

const listMissing = (tx: Db, named: readonly MatchedEvent<EventForWallet>[]) => tx<
  { organization_id: OrganizationId; event_id: EventId }[]
>`
  select named.organization_id, named.event_id
  from unnest(${plainArray(named.map(({ event }) => event.organization_id))}::uuid[],
    ${plainArray(named.map(({ event }) => event.id))}::uuid[],
    ${plainArray(named.map(({ subscription }) => subscription!.id))}::uuid[],
    ${textArray(named.map(({ event }) => event.target_wallet_code!))}::text[])
    as named (organization_id, event_id, subscription_id, code)
  join subscriptions s on s.organization_id = named.organization_id and s.id = named.subscription_id
  where not exists (
    select from wallets wallet
    where wallet.organization_id = named.organization_id and wallet.customer_id = s.customer_id
      and wallet.code = named.code and wallet.status = 'active')
  order by named.event_id`;

/** Step `tell-missing-wallets`: announces `event.error` for each of the events that is still live. */
export async function tellMissingWalletsStep(ctx: Context, { event_ids }: MissingWallets): Promise<void> {
  const message = JSON.stringify({ target_wallet_code: ['target_wallet_code_not_found'] });
  for (const event of await listEventsById(ctx, event_ids))
    ctx.record({
      webhook: {
        type: 'event.error',
        objectType: 'event_error',
        objectId: event.id,
        object: {
          status: UNPROCESSABLE,
          error: 'Unprocessable entity',
          message,
          event: JSON.parse(eventText(event)) as object,
        },
      },
    });
}
