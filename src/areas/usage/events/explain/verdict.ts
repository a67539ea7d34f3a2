import { Temporal } from 'temporal-polyfill';
import { later } from '../../../../engine/calendar/instants.ts';
import { shownEnd, shownStart } from '../../../../engine/calendar/period.ts';
import { lineWindows } from '../../../../engine/calendar/windows.ts';
import { AGGREGATION_TRAITS } from '../../../../engine/metrics/aggregation-types.ts';
import { filterChooser, type Texts, textUnder } from '../../../../engine/metrics/choose-filter.ts';
import { type GroupedBy, groupKeys, groupOf, TARGET_WALLET_KEY } from '../../../../engine/metrics/group-values.ts';
import { propertyText } from '../../../../engine/metrics/property-text.ts';
import { decimal, decimalText, ONE } from '../../../../engine/money/decimal.ts';
import type { EventId, ExternalCustomerId, ExternalSubscriptionId, PlanId } from '../../../../platform/ids.ts';
import { seconds } from '../../../../platform/schema/view.ts';
import { type EventToMatch, isBeforeStart, matchEvent, type UnmatchedReason } from '../../match-events/match-event.ts';
import type { ExplainedCharge, ExplainedMetric, ExplainedSubscription } from './terms-of-events.ts';

/** In the order in which they are returned. */
export type EventWarning =
  | 'subscription_incomplete'
  | 'carried_over'
  | 'in_future'
  | 'period_invoiced'
  | 'expression_applied'
  | 'filter_value_not_declared'
  | 'default_bucket'
  | 'group_key_missing'
  | 'target_wallet_not_found'
  | 'price_unknown';

/** How billing counts one stored event, as the API shows it. Rule: event-verdicts.md#verdict. */
export interface Explanation {
  outcome: 'counted' | 'not_counted' | 'replayed';
  reasons: UnmatchedReason[];
  warnings: EventWarning[];
  billable_metric_code: string | null;
  svc_subscription_id: string | null;
  external_customer_id: ExternalCustomerId | null;
  plan_code: string | null;
  period: { from: string; to: string; invoiced: boolean } | null;
  charges: {
    svc_charge_id: string;
    charge_code: string;
    charge_model: string;
    pay_in_advance: boolean;
    svc_charge_filter_id: string | null;
    filter_display_name: string | null;
    grouped_by: GroupedBy;
    value: string;
  }[];
}

/** An event as it is stored; times are ISO texts. */
export interface StoredEvent {
  id: EventId;
  external_subscription_id: ExternalSubscriptionId;
  code: string;
  timestamp: string;
  created_at: string;
  properties: Readonly<Record<string, unknown>>;
  isReplayed: boolean;
}

/**
 * Explains a stored event: which charges take it, in which filter and group and with which value, or why none does. It
 * uses the rules of billing: matching, choice of the filter, groups.
 *
 * candidates  subscriptions of the event's external id
 * now         the organization's present as ISO text
 */
export function explain(
  event: StoredEvent,
  metric: ExplainedMetric | undefined,
  candidates: readonly ExplainedSubscription[],
  now: string,
): Explanation {
  const texts = textsOf(event.properties);
  const toMatch: EventToMatch = {
    ...event,
    organization_id: '',
    metric_id: metric?.id ?? null,
    aggregation_type: metric?.aggregation_type ?? null,
    recurring: metric?.recurring ?? null,
    value: metric?.field_name == null ? null : textUnder(texts, metric.field_name),
  };
  const isCharged = (planId: PlanId) => metric?.charges.some((each) => each.plan_id === planId) === true;
  const match = matchEvent(toMatch, candidates, isCharged);
  const taking = candidates.find(({ id }) => id === match.taking?.id);
  const taken = match.reason === undefined && metric !== undefined && taking !== undefined;
  const charges = taken ? metric.charges.filter((charge) => charge.plan_id === taking.plan_id) : [];
  const buckets = charges.map((charge) => bucketOf(charge, metric!, texts));
  const period = taking === undefined ? null : periodOf(taking, event.timestamp);
  return {
    outcome: event.isReplayed ? 'replayed' : match.reason === undefined ? 'counted' : 'not_counted',
    reasons: match.reason === undefined ? [] : [match.reason],
    warnings: warningsOf({ event, metric, taking, texts, buckets, isInvoiced: period?.invoiced === true, now }),
    billable_metric_code: metric?.code ?? null,
    svc_subscription_id: taking?.id ?? null,
    external_customer_id: taking?.external_customer_id ?? null,
    plan_code: taking?.plan_code ?? null,
    period,
    charges: buckets.map(({ charge, filter, groupedBy }) => ({
      svc_charge_id: charge.id,
      charge_code: charge.code,
      charge_model: charge.charge_model,
      pay_in_advance: charge.pay_in_advance,
      svc_charge_filter_id: filter?.id ?? null,
      filter_display_name: filter?.invoice_display_name ?? null,
      grouped_by: groupedBy,
      value: enteringText(metric!, toMatch.value),
    })),
  };
}

const textsOf = (properties: Readonly<Record<string, unknown>>): Texts =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, propertyText(value)]));

/** The value that is aggregated: the number, the text of a unique count, else 1. */
function enteringText({ aggregation_type, field_name }: ExplainedMetric, text: string | null): string {
  if (AGGREGATION_TRAITS[aggregation_type].needsNumber) return decimalText(decimal(text!)); // matched: it is a number
  return aggregation_type === 'unique_count_agg' && field_name !== null ? text! : decimalText(ONE);
}

interface Bucket {
  charge: ExplainedCharge;
  filter: ExplainedCharge['filters'][number] | undefined;
  groupedBy: GroupedBy;
}

function bucketOf(charge: ExplainedCharge, metric: ExplainedMetric, texts: Texts): Bucket {
  const filters = charge.filters.map((filter) => ({ ...filter, created_at: Temporal.Instant.from(filter.created_at) }));
  const declared = Object.fromEntries(metric.declared.map(({ key, values }) => [key, values]));
  const chosen = filterChooser(filters, declared)(texts);
  const filter = charge.filters.find(({ id }) => id === chosen?.id);
  const keys = groupKeys((filter ?? charge).properties, { acceptsTargetWallet: charge.accepts_target_wallet });
  return { charge, filter, groupedBy: groupOf(keys, texts) };
}

/** The charges period that holds the timestamp; for a carried-over event the first one. */
function periodOf(subscription: ExplainedSubscription, timestamp: string): Explanation['period'] {
  const { starts_at, ends_at, zone } = subscription;
  if (starts_at === null) return null;
  const at = later(Temporal.Instant.from(timestamp), starts_at);
  const terms = { ...subscription, started_at: starts_at, terminated_at: ends_at };
  const window = lineWindows({ plan: subscription, subscription: terms, zone, at, mode: 'current' }).charges!; // mode current always has it
  const invoiced = subscription.invoiced.some(([from, to]) => from <= timestamp && timestamp < to);
  return { from: seconds(shownStart(window)), to: seconds(shownEnd(window)), invoiced };
}

/** Statuses of calls of language models without an amount. */
const UNPRICED: ReadonlySet<string> = new Set(['partial', 'unpriced']);

interface Facts {
  event: StoredEvent;
  metric: ExplainedMetric | undefined;
  taking: ExplainedSubscription | undefined;
  texts: Texts;
  buckets: readonly Bucket[];
  isInvoiced: boolean;
  now: string;
}

function warningsOf({ event, metric, taking, texts, buckets, isInvoiced, now }: Facts): EventWarning[] {
  const groups = buckets.flatMap(({ groupedBy }) => Object.entries(groupedBy));
  const wallet = textUnder(texts, TARGET_WALLET_KEY);
  const isWalletMissing = wallet !== null && taking?.wallet_codes.includes(wallet) !== true;
  const facts: [EventWarning, boolean][] = [
    ['subscription_incomplete', taking?.status === 'incomplete'],
    ['carried_over', taking?.started_at != null && isBeforeStart(event.timestamp, taking.started_at)],
    ['in_future', event.timestamp > now],
    ['period_invoiced', isInvoiced],
    ['expression_applied', metric?.has_expression === true],
    ['filter_value_not_declared', metric?.declared.some((each) => isUndeclared(each, texts)) === true],
    ['default_bucket', buckets.some(({ charge, filter }) => charge.filters.length > 0 && filter === undefined)],
    ['group_key_missing', groups.some(([key, value]) => key !== TARGET_WALLET_KEY && value === null)],
    ['target_wallet_not_found', isWalletMissing && buckets.some(({ charge }) => charge.accepts_target_wallet)],
    ['price_unknown', UNPRICED.has(textUnder(texts, 'ai_status') ?? '')],
  ];
  return facts.flatMap(([warning, holds]) => (holds ? [warning] : []));
}

function isUndeclared({ key, values }: { key: string; values: readonly string[] }, texts: Texts): boolean {
  const text = textUnder(texts, key);
  return text !== null && !values.includes(text);
}
