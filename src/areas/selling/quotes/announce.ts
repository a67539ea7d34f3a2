import type { Context } from '../../../platform/context.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import type { QuoteRow, QuoteVersionRow } from './queries.ts';
import { quoteBaseView, quoteExtendedView, quoteVersionView } from './view.ts';

type QuoteEvent = 'quote.created' | 'quote.updated' | 'quote.approved' | 'quote.voided' | 'quote.version_created';

/** Types that are announced; other types are recorded in the audit trail only. Rule: webhooks.md#event-types. */
const TOLD: ReadonlySet<QuoteEvent> = new Set(['quote.created', 'quote.approved', 'quote.voided']);

/**
 * Writes what happened to a quote, or to one of its versions, into the audit trail and sends its webhook. The audit
 * trail shows the items of a version, never its content.
 *
 * @param before the version before a change
 * Rules: webhooks.md#event-types, logs.md#activity-logs.
 */
export function recordQuote(
  ctx: Context,
  type: QuoteEvent,
  { quote, version, before }: { quote: QuoteRow; version: QuoteVersionRow; before?: QuoteVersionRow },
): void {
  const object = type === 'quote.created' ? quoteExtendedView(quote, version) : loggedVersion(version);
  ctx.record({
    activity: {
      type,
      resourceType: 'Quote',
      resourceId: quote.id,
      object,
      ...(before ? { changes: changedKeys(loggedVersion(before), loggedVersion(version)) } : {}),
      externalCustomerId: quote.external_customer_id,
    },
    ...(TOLD.has(type)
      ? {
          webhook: {
            type,
            objectType: 'quote',
            objectId: quote.id,
            customerId: quote.customer_id,
            object: { ...quoteBaseView(quote), version: quoteVersionView(version) },
          },
        }
      : {}),
  });
}

const loggedVersion = (version: QuoteVersionRow) => ({
  ...quoteVersionView(version),
  billing_items: version.billing_items,
});
