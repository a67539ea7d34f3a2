import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { QuoteRow, QuoteVersionRow } from './queries.ts';

/** A quote as webhooks and lists share it. Rule: quotes.md#fields. */
export const quoteBaseView = (quote: QuoteRow) => ({
  svc_id: quote.id,
  number: quote.number,
  order_type: quote.order_type,
  svc_customer_id: quote.customer_id,
  svc_subscription_id: quote.subscription_id,
  svc_organization_id: quote.organization_id,
  created_at: seconds(quote.created_at),
  updated_at: seconds(quote.updated_at),
});

/** A version as lists show it. Rule: quotes.md#fields. */
export const quoteVersionView = (version: QuoteVersionRow) => ({
  svc_id: version.id,
  svc_quote_id: version.quote_id,
  svc_organization_id: version.organization_id,
  version: version.version,
  status: version.status,
  currency: version.currency,
  billing_entity_code: version.billing_entity_code,
  void_reason: version.void_reason,
  approved_at: secondsOrNull(version.approved_at),
  voided_at: secondsOrNull(version.voided_at),
  created_at: seconds(version.created_at),
  updated_at: seconds(version.updated_at),
});

/** A version read by its id. Rule: quotes.md#fields. */
export const quoteVersionExtendedView = (version: QuoteVersionRow) => ({
  ...quoteVersionView(version),
  content: version.content,
  billing_items: version.billing_items,
});

export const quoteView = (quote: QuoteRow, current: QuoteVersionRow | undefined) => ({
  ...quoteBaseView(quote),
  current_version: current ? quoteVersionView(current) : null,
});

/** A quote read by its id. Rule: quotes.md#fields. */
export const quoteExtendedView = (quote: QuoteRow, current: QuoteVersionRow | undefined) => ({
  ...quoteView(quote, current),
  owners: quote.owners,
});
